//! A second `impl Reply`, in addition to `#[derive(Schema)]`.

use stockade::prelude::*;

#[derive(serde::Serialize, Schema)]
struct Csv {
    rows: Vec<String>,
}

impl Reply for Csv {
    fn into_response(self) -> Result<Response, ApiError> {
        self.rows.join(",").into_response()
    }
}

fn main() {}
