//! The body of the POST, validated by the crate `validator`, for contestants
//! without built-in validation.

use serde::{Deserialize, Serialize};
use validator::{Validate, ValidationError, ValidationErrors};

/// A person with the same validation rules for every contestant.
#[derive(Debug, Deserialize, Serialize, Validate)]
pub struct User {
    #[validate(custom(function = uuid))]
    id: String,
    #[validate(length(min = 2, max = 80))]
    name: String,
    #[validate(email(code = "format", message = "Invalid email format"))]
    email: String,
    #[validate(url)]
    site: Option<String>,
    #[validate(length(max = 1000))]
    bio: Option<String>,
    #[validate(range(
        min = 0,
        max = 150,
        code = "maximum",
        message = "Number must be at most 150"
    ))]
    age: u32,
    #[validate(range(min = 0.0, exclusive_max = 1000.0))]
    score: Option<f64>,
    role: Role,
    #[validate(length(max = 10), custom(function = short))]
    tags: Option<Vec<String>>,
    #[validate(nested)]
    address: Address,
    active: Option<bool>,
    #[validate(custom(function = date))]
    born: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, Validate)]
struct Address {
    #[validate(length(min = 1, max = 100))]
    street: String,
    #[validate(length(min = 1, max = 60))]
    city: String,
    #[validate(length(min = 4, max = 10))]
    zip: Option<String>,
    #[validate(length(min = 2, max = 2))]
    country: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Admin,
    Editor,
    Reader,
}

/// The reason why a body is rejected.
#[derive(Debug)]
pub enum Refused {
    /// The body is not JSON or not a person.
    Unreadable(serde_json::Error),
    /// The body violates a rule.
    Invalid(ValidationErrors),
}

/// Returns the response to a POST, which is the person itself.
///
/// # Errors
/// Returns an error if the body cannot be read or violates a rule.
pub fn echo(body: &[u8]) -> Result<Vec<u8>, Refused> {
    let user: User = serde_json::from_slice(body).map_err(Refused::Unreadable)?;
    user.validate().map_err(Refused::Invalid)?;
    serde_json::to_vec(&user).map_err(Refused::Unreadable)
}

impl Refused {
    /// Returns the body of the 400.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        match self {
            Self::Unreadable(_) => br#"{"error":"Invalid JSON body"}"#.to_vec(),
            Self::Invalid(errors) => refusal(errors),
        }
    }
}

/// Returns the body of a 400 with each invalid field in the order of the type.
#[must_use]
pub fn refusal(errors: &ValidationErrors) -> Vec<u8> {
    let fields = errors.field_errors();
    let errors = FIELDS.iter().filter_map(|field| fields.get(*field).map(|errors| (field, errors)));
    let errors = errors.flat_map(|(field, errors)| errors.iter().map(|error| (*field, error)));
    let errors = errors.map(|(field, error)| Problem {
        field,
        message: error.message.as_deref().unwrap_or("Invalid value"),
        rule: &error.code,
    });
    let details = Details { errors: errors.collect() };
    serde_json::to_vec(&Refusal { error: "Validation failed", details }).unwrap_or_default()
}

/// The fields in order.
const FIELDS: [&str; 9] = ["id", "name", "email", "site", "bio", "age", "score", "tags", "born"];

#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a str,
    details: Details<'a>,
}

#[derive(Serialize)]
struct Details<'a> {
    errors: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct Problem<'a> {
    field: &'a str,
    message: &'a str,
    rule: &'a str,
}

fn uuid(text: &str) -> Result<(), ValidationError> {
    let is_fine = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    is_fine.then_some(()).ok_or_else(|| ValidationError::new("uuid"))
}

fn date(text: &str) -> Result<(), ValidationError> {
    let is_fine = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
        && ("01"..="12").contains(&&text[5..7])
        && ("01"..="31").contains(&&text[8..]);
    is_fine.then_some(()).ok_or_else(|| ValidationError::new("date"))
}

fn short(tags: &[String]) -> Result<(), ValidationError> {
    let is_fine = tags.iter().all(|tag| (1..=20).contains(&tag.chars().count()));
    is_fine.then_some(()).ok_or_else(|| ValidationError::new("tags"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload;

    #[test]
    fn workload_bodies_get_the_expected_responses() {
        assert_eq!(echo(workload::USER.as_bytes()).unwrap(), workload::USER.as_bytes());
        let refused = echo(workload::bad_user().as_bytes()).unwrap_err();
        assert_eq!(refused.body(), workload::REFUSAL.as_bytes());
    }
}
