//! Functions of credentials are for `bearer`, functions of extractors for `lookup`.

use stockade::auth::ApiKeyHash;
use stockade::extract::Headers;
use stockade::middleware::Auth;
use stockade::prelude::*;

async fn by_token(token: String) -> Result<Option<String>, ApiError> {
    Ok(Some(token))
}

async fn by_key(_: ApiKeyHash, _: Headers) -> Result<Option<String>, ApiError> {
    Ok(None)
}

async fn by_header(_: Headers) -> Result<Option<String>, ApiError> {
    Ok(None)
}

struct Own;

async fn fails(_: Headers) -> Result<Option<String>, Own> {
    Err(Own)
}

async fn fails_by_token(_: String) -> Result<Option<String>, Own> {
    Err(Own)
}

fn main() {
    let _ = Auth::lookup(by_token);
    let _ = Auth::lookup(by_key);
    let _ = Auth::bearer(by_header);
    let _ = Auth::lookup(fails);
    let _ = Auth::bearer(fails_by_token);
}
