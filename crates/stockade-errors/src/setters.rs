//! A macro for the setters of option types, used by all crates.

/// Generates the setters of an option type, with documentation, inside an
/// `impl` block.
///
/// | field | written as | argument |
/// |---|---|---|
/// | `T` | `name: T` | `T` |
/// | `T` | `name: into T` | `impl Into<T>` |
/// | `Option<T>` | `name: some T` | `T` |
/// | `Option<T>` | `name: some into T` | `impl Into<T>` |
/// | `Vec<T>` | `name: list T` | items that are `Into<T>` |
/// | `Option<Vec<T>>` | `name: some list T` | items that are `Into<T>` |
#[doc(hidden)]
#[macro_export]
macro_rules! __setters {
    () => {};
    ($(#[$meta:meta])* $name:ident: some into $type:ty; $($rest:tt)*) => {
        $crate::__setters! { @one [$(#[$meta])*] $name, impl Into<$type>, Some($name.into()) }
        $crate::__setters! { $($rest)* }
    };
    ($(#[$meta:meta])* $name:ident: some list $type:ty; $($rest:tt)*) => {
        $crate::__setters! {
            @one [$(#[$meta])*] $name, impl IntoIterator<Item = impl Into<$type>>,
            Some($name.into_iter().map(Into::into).collect())
        }
        $crate::__setters! { $($rest)* }
    };
    ($(#[$meta:meta])* $name:ident: some $type:ty; $($rest:tt)*) => {
        $crate::__setters! { @one [$(#[$meta])*] $name, $type, Some($name) }
        $crate::__setters! { $($rest)* }
    };
    ($(#[$meta:meta])* $name:ident: into $type:ty; $($rest:tt)*) => {
        $crate::__setters! { @one [$(#[$meta])*] $name, impl Into<$type>, $name.into() }
        $crate::__setters! { $($rest)* }
    };
    ($(#[$meta:meta])* $name:ident: list $type:ty; $($rest:tt)*) => {
        $crate::__setters! {
            @one [$(#[$meta])*] $name, impl IntoIterator<Item = impl Into<$type>>,
            $name.into_iter().map(Into::into).collect()
        }
        $crate::__setters! { $($rest)* }
    };
    ($(#[$meta:meta])* $name:ident: $type:ty; $($rest:tt)*) => {
        $crate::__setters! { @one [$(#[$meta])*] $name, $type, $name }
        $crate::__setters! { $($rest)* }
    };
    (@one [$($meta:tt)*] $name:ident, $type:ty, $value:expr) => {
        $($meta)*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $value;
            self
        }
    };
}

#[cfg(test)]
#[expect(unreachable_pub, reason = "a setter is public")]
mod tests {
    #[derive(Default)]
    struct Limits {
        bytes: u64,
        origins: Option<Vec<String>>,
    }

    impl Limits {
        crate::__setters! {
            /// Sets the largest body, in bytes. Default: 0.
            bytes: u64;
            /// Sets the allowed origins. Default: none.
            origins: some list String;
        }
    }

    #[test]
    fn setters_accept_their_argument_forms() {
        let limits = Limits::default().bytes(5).origins(["https://a.example"]);
        assert_eq!((limits.bytes, limits.origins.unwrap()), (5, vec!["https://a.example".into()]));
    }
}
