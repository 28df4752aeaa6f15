//! [`LazyUser`]: the user of a request, as a value or as unparsed JSON.

use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde_json::Value;

/// The user of a request. Default: unauthenticated.
///
/// JSON is parsed on first use. Many routes only need to know whether there is
/// a user.
#[derive(Clone, Default)]
pub(crate) struct LazyUser {
    /// Boxed, because most routes never read the user.
    value: OnceLock<Box<Value>>,
    json: Option<String>,
    /// The authentication method that found the user.
    origin: Option<Arc<str>>,
}

impl LazyUser {
    pub(crate) fn of(user: Option<Value>) -> Self {
        let value = user.map(Box::new).map_or_else(OnceLock::new, OnceLock::from);
        Self { value, json: None, origin: None }
    }

    pub(crate) fn origin(&self) -> Option<&Arc<str>> {
        self.origin.as_ref()
    }

    pub(crate) fn set_origin(&mut self, origin: Arc<str>) {
        self.origin = Some(origin);
    }

    /// Creates a user from JSON. `value` is the parsed JSON, if available.
    pub(crate) fn of_json(json: String, value: Option<Value>) -> Self {
        Self { json: Some(json), ..Self::of(value) }
    }

    /// Returns the user, or `None` if there is none or its JSON is invalid.
    pub(crate) fn value(&self) -> Option<&Value> {
        if let Some(value) = self.value.get() {
            return Some(value);
        }
        let value = serde_json::from_str(self.json.as_deref()?).ok()?;
        Some(self.value.get_or_init(|| Box::new(value)))
    }

    /// Returns the user as an application type, or `None` without a user.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Option<Result<T, serde_json::Error>> {
        match &self.json {
            Some(json) => Some(serde_json::from_str(json)),
            None => self.value.get().map(|value| T::deserialize(&**value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Account {
        name: String,
    }

    #[test]
    fn json_and_a_value_are_the_same_user() {
        let ann = json!({ "name": "ann" });
        for user in [
            LazyUser::of(Some(ann.clone())),
            LazyUser::of_json(ann.to_string(), None),
            LazyUser::of_json(ann.to_string(), Some(ann.clone())),
        ] {
            assert_eq!(
                user.read::<Account>().unwrap().unwrap(),
                Account { name: "ann".to_owned() }
            );
            assert_eq!(user.value(), Some(&ann));
            assert_eq!(
                user.read::<Account>().unwrap().unwrap(),
                Account { name: "ann".to_owned() }
            );
            assert!(user.read::<u32>().unwrap().is_err());
        }
    }

    #[test]
    fn missing_and_malformed_users_have_no_value() {
        assert_eq!(LazyUser::default().value(), None);
        assert!(LazyUser::default().read::<Value>().is_none());
        let broken = LazyUser::of_json("{".to_owned(), None);
        assert_eq!(broken.value(), None);
        assert!(broken.read::<Value>().unwrap().is_err());
    }
}
