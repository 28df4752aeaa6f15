//! `Setting`: an option that a route inherits, replaces or disables.

use std::borrow::Cow;
use std::time::Duration;

/// The value of an option at one level: a router, a group, a node of the tree,
/// a route or a host.
///
/// `false` disables an option, in code and in a configuration file.
///
/// ```
/// use stockade::{IntoSetting, Setting};
///
/// let outer: Setting<u32> = Setting::Value(7);
/// assert_eq!(Setting::Inherit.or(&outer), Setting::Value(7));
/// assert_eq!(false.into_setting().or(&outer), Setting::Off);
/// assert_eq!(Setting::Value(8).or(&outer), Setting::Value(8));
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Setting<T> {
    /// The value of the outer level.
    #[default]
    Inherit,
    /// Disabled: `false`.
    Off,
    /// Enabled with the default: `true`.
    On,
    /// This value.
    Value(T),
}

impl<T> Setting<T> {
    /// Returns this setting, or the setting of the outer level if this one
    /// inherits.
    #[must_use]
    pub fn or(mut self, outer: &Self) -> Self
    where
        T: Clone,
    {
        self.inherit(outer);
        self
    }

    /// Converts the value, if there is one.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        match self {
            Self::Inherit => Setting::Inherit,
            Self::Off => Setting::Off,
            Self::On => Setting::On,
            Self::Value(value) => Setting::Value(change(value)),
        }
    }

    /// Returns a reference to the value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, if there is one.
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value, or the default if the option is enabled. Returns
    /// `None` if it is disabled or inherited.
    #[must_use]
    pub fn enabled(&self) -> Option<T>
    where
        T: Clone + Default,
    {
        match self {
            Self::Value(value) => Some(value.clone()),
            Self::On => Some(T::default()),
            Self::Off | Self::Inherit => None,
        }
    }

    /// Returns true if the option is disabled.
    #[must_use]
    pub fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Returns true if the option is inherited.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        matches!(self, Self::Inherit)
    }
}

/// A value for an option: the value itself, `false` to disable it, or `true`
/// for the default.
///
/// Pass a [`Setting`] if the program computes the value.
///
/// ```
/// use stockade::middleware::rate_limit::MINUTE;
/// use stockade::{IntoSetting as _, RouterOptions, Setting};
///
/// let options = RouterOptions::new().rate_limit(false).security_headers(false);
/// assert!(stockade::Router::with_options(options).build().is_ok());
///
/// let quota: Option<u32> = Some(600);
/// let limit = quota.map_or(Setting::Off, |requests| (requests / MINUTE).into_setting());
/// assert!(stockade::Router::with_options(RouterOptions::new().rate_limit(limit)).build().is_ok());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value for this option",
    label = "expected a value that becomes `{T}`, or `false`"
)]
pub trait IntoSetting<T> {
    /// Converts the value to a setting.
    fn into_setting(self) -> Setting<T>;
}

impl<T> IntoSetting<T> for Setting<T> {
    fn into_setting(self) -> Self {
        self
    }
}

impl<T> IntoSetting<T> for bool {
    fn into_setting(self) -> Setting<T> {
        if self { Setting::On } else { Setting::Off }
    }
}

macro_rules! values {
    ($($value:ty),*) => {$(
        impl IntoSetting<Self> for $value {
            fn into_setting(self) -> Setting<Self> {
                Setting::Value(self)
            }
        }
    )*};
}

values!(u32, Duration);

/// A list of strings.
impl<T: Into<String>, const N: usize> IntoSetting<Vec<String>> for [T; N] {
    fn into_setting(self) -> Setting<Vec<String>> {
        Setting::Value(self.map(Into::into).into())
    }
}

/// A list of strings.
impl<T: Into<String>> IntoSetting<Vec<String>> for Vec<T> {
    fn into_setting(self) -> Setting<Vec<String>> {
        Setting::Value(self.into_iter().map(Into::into).collect())
    }
}

/// A list of strings.
impl<T: AsRef<str>> IntoSetting<Vec<String>> for &[T] {
    fn into_setting(self) -> Setting<Vec<String>> {
        Setting::Value(self.iter().map(|text| text.as_ref().to_owned()).collect())
    }
}

macro_rules! texts {
    ($($text:ty),*) => {$(
        impl IntoSetting<String> for $text {
            fn into_setting(self) -> Setting<String> {
                Setting::Value(self.into())
            }
        }
    )*};
}

texts!(&str, &String, String, Box<str>, Cow<'_, str>);

/// A field of settings that can inherit the value of the outer level.
pub trait Inherit {
    /// Takes the value of the outer level if this one is not set.
    fn inherit(&mut self, outer: &Self);
}

impl<T: Clone> Inherit for Option<T> {
    fn inherit(&mut self, outer: &Self) {
        if self.is_none() {
            self.clone_from(outer);
        }
    }
}

impl<T: Clone> Inherit for Setting<T> {
    fn inherit(&mut self, outer: &Self) {
        if self.is_inherited() {
            self.clone_from(outer);
        }
    }
}
