//! Variants that cannot use the response of their field.

use stockade::prelude::*;

#[derive(ApiError, Debug)]
enum ShopError {
    #[status(transparent)]
    Nothing,
    #[status(transparent)]
    Two(ApiError, ApiError),
    #[status(transparent, "gone")]
    WithMessage(ApiError),
    #[status(transparent)]
    #[status(404)]
    WithStatus(ApiError),
    #[status(404, "x")]
    Other,
}

#[derive(Debug)]
struct Weather;

#[derive(ApiError, Debug)]
enum AppError {
    #[status(transparent)]
    Weather(Weather),
}

fn main() {}
