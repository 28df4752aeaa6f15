//! The newsletter and the sales report, which show smaller helper functions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::Serialize;
use stockade::middleware::{
    Cookies, ErrorHandler, ErrorHandlerOptions, InputRule, InputType, SerializeHelpers, SetCookie,
    create_error_handler, with_input_validation,
};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::validation::Unchecked;

/// Validates a subscription with rules instead of a type.
pub fn letter_rules() -> Middleware {
    let email = InputRule::new().required().kind(InputType::String).max_length(254);
    with_input_validation([("email", email)])
}

/// Sets a cookie that records the subscription.
pub async fn subscribe(Body(letter): Body<Unchecked<Value>>) -> Created<(SetCookie, Subscriber)> {
    // The rules guarantee that it exists.
    let email = letter.0["email"].as_str().unwrap_or_default().to_owned();
    Created::new((SetCookie::from_static("letter", "yes"), Subscriber { email }))
}

#[derive(Serialize, Schema)]
pub struct Subscriber {
    pub email: String,
}

/// Reports whether this browser has subscribed.
pub async fn subscription(cookies: Cookies) -> Subscription {
    Subscription { subscribed: cookies.get("letter").is_some() }
}

#[derive(Serialize, Schema)]
pub struct Subscription {
    pub subscribed: bool,
}

/// Returns a report with values that JSON does not support: a date, a set, and
/// a map with numeric keys.
pub async fn report(serialize: SerializeHelpers) -> Result<Value, ApiError> {
    let categories = BTreeSet::from(["crockery", "tea"]);
    let sold = BTreeMap::from([(1, 12), (3, 4)]);
    Ok(json!({
        "at": serialize.date(&SystemTime::now())?,
        "categories": serialize.set(&categories)?,
        "sold_by_product": serialize.map(&sold)?,
    }))
}

/// Adds a contact address to errors of the report.
pub fn report_errors() -> ErrorHandler {
    create_error_handler(ErrorHandlerOptions::new().transform(|error, mut body| {
        if error.status() >= 500 {
            body["contact"] = "admin@example.org".into();
        }
        body
    }))
}
