//! The newsletter, and what has sold: the smaller helpers at work.

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

/// What a subscription must have: checks of a body by rules, without a type.
pub fn letter_rules() -> Middleware {
    let email = InputRule::new().required().kind(InputType::String).max_length(254);
    with_input_validation([("email", email)])
}

/// Remembers in a cookie who has subscribed.
pub async fn subscribe(Body(letter): Body<Unchecked<Value>>) -> Created<(SetCookie, Subscriber)> {
    // The rules have seen that it is there.
    let email = letter.0["email"].as_str().unwrap_or_default().to_owned();
    Created::new((SetCookie::from_static("letter", "yes"), Subscriber { email }))
}

#[derive(Serialize, Schema)]
pub struct Subscriber {
    pub email: String,
}

/// Whether this browser has subscribed.
pub async fn subscription(cookies: Cookies) -> Subscription {
    Subscription { subscribed: cookies.get("letter").is_some() }
}

#[derive(Serialize, Schema)]
pub struct Subscription {
    pub subscribed: bool,
}

/// A report in values that JSON has no words for: a date, a set, a map whose
/// keys are numbers.
pub async fn report(serialize: SerializeHelpers) -> Result<Value, ApiError> {
    let categories = BTreeSet::from(["crockery", "tea"]);
    let sold = BTreeMap::from([(1, 12), (3, 4)]);
    Ok(json!({
        "at": serialize.date(&SystemTime::now())?,
        "categories": serialize.set(&categories)?,
        "sold_by_product": serialize.map(&sold)?,
    }))
}

/// Tells whoever reads reports whom to ask when one cannot be made.
pub fn report_errors() -> ErrorHandler {
    create_error_handler(ErrorHandlerOptions::new().transform(|error, mut body| {
        if error.status() >= 500 {
            body["contact"] = "admin@example.org".into();
        }
        body
    }))
}
