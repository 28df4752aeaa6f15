//! The variant that serde builds from a value.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::inner::Choice;
use crate::read::read_value;

/// The function that finds the variant of an enum; nothing for an enum that serde does not read.
#[derive(Clone, Debug, Default)]
pub struct Chosen(pub(super) Option<Choice>);

/// Finds the variant of an enum that serde builds from a value.
///
/// `VariantOf::<T>::by(index)` is the function of [`VariantOf`] if serde reads `T`, and otherwise
/// the function of [`NotChosen`], because an inherent function comes first.
#[derive(Debug)]
pub struct VariantOf<T: ?Sized>(PhantomData<T>);

impl<T: DeserializeOwned + 'static> VariantOf<T> {
    /// Returns a function that reads the enum; `index` returns the place of a variant.
    #[must_use]
    pub fn by(index: fn(&T) -> usize) -> Chosen {
        let choose = move |value: &Value| read_value::<T>(value).ok().map(|it| index(&it));
        Chosen(Some(Choice::new(choose)))
    }
}

/// An enum that serde does not read: see [`VariantOf`].
pub trait NotChosen<T> {
    /// Returns no function.
    #[must_use]
    fn by(_index: fn(&T) -> usize) -> Chosen {
        Chosen::default()
    }
}

impl<T> NotChosen<T> for VariantOf<T> {}
