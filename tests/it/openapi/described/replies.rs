//! Rows for replies, for parts of replies, and for failures.

use std::borrow::Cow;
use std::convert::Infallible;
use std::time::Duration;

use stockade::extract::FileName;
use stockade::http::{HeaderMap, header};
use stockade::middleware::files::{FileDownload, FileReply, FileRequest};
use stockade::middleware::health::{Readiness, live, ready};
use stockade::middleware::{CookieError, Metrics, SetCookie, WithETag};
use stockade::prelude::*;
use stockade::reply::{
    Accepted, Created, Download, Event, JsonText, Redirect, Sse, Status, Streamed,
};
use stockade::rest::StoreError;
use stockade::rpc::RpcError;
use stockade::serialization::SerializationError;
use stockade::sql::SqlError;
use stockade::validation::{ReadError, ValidationOptions};
use stockade::{BodyError, BoxError, FieldError};

use super::impls::{Case, case, impls};
use super::{row, with_state};

#[derive(serde::Serialize, Schema)]
struct Tea {
    grams: u8,
}

fn tea() -> Json<Tea> {
    Json(Tea { grams: 50 })
}

const GET: &str = "GET /x/7";

fn plain() -> Vec<Case> {
    let redirect = "Reply for Redirect";
    let any = "Reply for StatusCode";
    impls! {
        "Reply for ()", [], async || (), GET => 204;
        "Reply for &'static str", [], async || "x", GET => 200;
        "Reply for String", [], async || "x".to_owned(), GET => 200;
        "Reply for Cow<'static, str>", [], async || Cow::Borrowed("x"), GET => 200;
        "Reply for Bytes", [], async || Bytes::from_static(b"x"), GET => 200;
        "Reply for Vec<u8>", [], async || b"x".to_vec(), GET => 200;
        "Reply for Html<T>", [], async || Html("<p>"), GET => 200;
        "Reply for JsonText<T>", [], async || JsonText("[1]"), GET => 200;
        "Reply for Json<T>", [], async || tea(), GET => 200;
        "Reply for Value", [], async || json!([1]), GET => 200;
        "Reply for Response", [], async || Response::new("x".into()), GET => 200;
        redirect, [], async || Redirect::to("/"), GET => 303;
        redirect, [], async || Redirect::temporary("/"), GET => 307;
        redirect, [], async || Redirect::permanent("/"), GET => 308;
        any, [], async || StatusCode::ACCEPTED, GET => 202;
        "Reply for Option<R>", [], async || Some(tea()), GET => 200;
        "Reply for Option<R>", [], async || None::<Json<Tea>>, GET => 204;
        "Reply for Result<R, E>", [], async || Ok::<_, ApiError>(tea()), GET => 200;
        "Reply for Result<R, E>", [], async || Err::<Json<Tea>, _>(ApiError::conflict()), GET => 409;
        "Reply for Accepted<T>", [], async || Accepted(tea()), GET => 202;
        "Reply for Created<T>", [], async || Created::new(tea()), GET => 201;
        "Reply for Created<T>", [], async || Created::new(tea()).location("/x/8"), GET => 201;
        "Reply for Status<CODE, T>", [], async || Status::<418, _>(tea()), GET => 418;
        "Reply for WithETag<V, T>", [], async || WithETag(7, tea()), GET => 200;
        "Reply for WithETag<V, T>",
            [], async || WithETag(7, tea()), format!("{GET}\nif-none-match: \"7\"") => 304;
        "Reply for WithETag<V, T>",
            [], async || WithETag(7, tea()), format!("{GET}\nif-match: \"6\"") => 412;
        "Reply for Sse", [], events, GET => 200;
        "Reply for Streamed", [], streamed, GET => 200;
        "Reply for Download", [], async || Download::new("x").named("a.txt"), GET => 200;
    }
}

async fn events() -> Sse {
    Sse::new(futures_util::stream::iter([Ok::<_, BoxError>(Event::data("x"))]))
}

async fn streamed() -> Streamed {
    Streamed::new(futures_util::stream::iter([Ok::<_, BoxError>("a,b")])).content_type("text/csv")
}

fn parts_of_replies() -> Vec<Case> {
    let csv = || [(header::CONTENT_TYPE, "text/csv")];
    let mut map = HeaderMap::new();
    map.insert(header::CONTENT_TYPE, "text/csv".parse().unwrap());
    let cookie = || SetCookie::from_static("a", "1");
    impls! {
        "Reply for (P, R)", [], async || (StatusCode::CREATED, tea()), GET => 201;
        "Reply for (P, Q, R)", [], async move || (StatusCode::CREATED, csv(), "a,b"), GET => 201;
        "ReplyPart for StatusCode", [], async || (StatusCode::CREATED, "x"), GET => 201;
        "ReplyPart for HeaderMap", [], async move || (map.clone(), "a,b"), GET => 200;
        "ReplyPart for [(N, V); COUNT]", [], async move || (csv(), "a,b"), GET => 200;
        "ReplyPart for Vec<(N, V)>", [], async move || (csv().to_vec(), "a,b"), GET => 200;
        "ReplyPart for SetCookie", [], async move || (cookie(), "x"), GET => 200;
        "ReplyPart for Vec<P>", [], async move || (vec![cookie()], "x"), GET => 200;
        "ReplyPart for Vec<P>", [], async || (Vec::<SetCookie>::new(), "x"), GET => 200;
    }
}

async fn file(file: FileRequest, Path(name): Path<FileName>) -> Result<FileReply, ApiError> {
    file.within(concat!(env!("CARGO_MANIFEST_DIR"), "/it/openapi/described"), &name).await
}

async fn uploaded(file: FileRequest, name: Path<FileName>) -> Result<FileDownload, ApiError> {
    Ok(self::file(file, name).await?.uploaded("a.rs"))
}

/// Reports a failed component in the response.
fn degraded(readiness: Readiness) -> Readiness {
    readiness.details(true).watching("redis", || Some(Duration::from_secs(1)))
}

fn helpers() -> Vec<Case> {
    let mod_rs = "GET /x/mod.rs";
    let by = |header: &str| format!("{mod_rs}\n{header}");
    let metrics = Metrics::new();
    let (reply, request) = ("Reply for FileReply", "FromRequest for FileRequest");
    let not_ready = Readiness::new();
    not_ready.set(false);
    let ready_row = |state: Readiness| row!(with_state(state), [], ready, GET);
    let readiness = "Reply for ReadinessReply";
    let mut cases = vec![
        case(readiness, ready_row(Readiness::new()), 200),
        case(readiness, ready_row(not_ready.clone()), 503),
        case(readiness, ready_row(degraded(Readiness::new())), 200),
        case(readiness, ready_row(degraded(not_ready)), 503),
    ];
    for name in [reply, request] {
        cases.extend(impls! {
            name, [], file, mod_rs => 200;
            name, [], file, by("range: bytes=0-9") => 206;
            name, [], file, by("if-none-match: *") => 304;
            name, [], file, by("if-match: \"unknown\"") => 412;
            name, [], file, by("range: bytes=999999-") => 416;
            name, [], file, "GET /x/none" => 404;
            name, [], file, "GET /x/..%2f" => 400;
            // An error from the handler itself.
            name, [], async |_: FileRequest, _: Path<FileName>| {
                Err::<FileReply, _>(ApiError::conflict())
            }, mod_rs => 409;
        });
    }
    let name = "Reply for FileDownload";
    cases.extend(impls! {
        name, [], uploaded, mod_rs => 200;
        name, [], uploaded, by("range: bytes=0-9") => 206;
        name, [], uploaded, by("if-none-match: *") => 304;
        name, [], uploaded, by("if-match: \"unknown\"") => 412;
        name, [], uploaded, by("range: bytes=999999-") => 416;
        name, [], uploaded, "GET /x/none" => 404;
        name, [], uploaded, "GET /x/..%2f" => 400;
        // An error from the handler itself.
        name, [], async |_: FileRequest, _: Path<FileName>| {
            Err::<FileDownload, _>(ApiError::conflict())
        }, mod_rs => 409;
    });
    cases.extend(impls! {
        "Reply for LivenessReply", [], live, GET => 200;
        "Reply for MetricsText", [], metrics.handler(), GET => 200;
    });
    cases
}

/// Creates a handler that fails with an error.
macro_rules! fails {
    ($($name:expr, $error:expr => $($status:expr),+;)*) => {
        [$(impls! { $($name, [], async move || Err::<Infallible, _>($error($status)), GET => $status;)+ }),*]
    };
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap()
}

fn failures() -> Vec<Case> {
    let too_long = |_: u16| "..".parse::<FileName>().unwrap_err();
    let misread = |_: u16| -> ReadError {
        let schema = <u8 as stockade::validation::HasSchema>::schema().unwrap();
        schema.read_json::<u8>(b"300", &ValidationOptions::new()).unwrap_err()
    };
    let misread_json = |_: u16| stockade::serde_json::from_str::<u8>("x").unwrap_err();
    let unwritten = |code: u16| SerializationError::Custom(ApiError::new(code, "").into());
    let body = |code: u16| match code {
        400 => BodyError::Broken,
        408 => BodyError::TimedOut,
        _ => BodyError::TooLarge,
    };
    let response = |code: u16| {
        let mut response = Response::new("x".into());
        *response.status_mut() = status(code);
        response
    };
    let redirect = |code: u16| match code {
        303 => Redirect::to("/"),
        307 => Redirect::temporary("/"),
        _ => Redirect::permanent("/"),
    };
    let database = |code: u16| match code {
        409 => SqlError::Taken { constraint: "name".to_owned(), source: "x".into() },
        500 => SqlError::failed("x"),
        _ => SqlError::unavailable("x"),
    };
    let store = |code: u16| match code {
        400 => StoreError::Invalid(Vec::new()),
        404 => StoreError::Missing,
        409 => StoreError::taken("name"),
        500 => StoreError::failed("x"),
        _ => StoreError::busy(Duration::from_secs(1), "x"),
    };
    let cookie = |code: u16| match code {
        400 => CookieError::Value,
        _ => CookieError::Path,
    };
    let refused = |_: u16| StoreError::Invalid(vec![FieldError::new("name", "No", "database")]);
    let cases = fails! {
        "IntoError for ApiError", |code| ApiError::new(code, "") => 404, 503;
        "IntoError for BoxError", |code| BoxError::from(ApiError::new(code, "")) => 404;
        "IntoError for std::Error", |_| std::io::Error::other("x") => 500;
        "IntoError for serde_json::Error", misread_json => 500;
        "IntoError for SerializationError", unwritten => 404;
        "IntoError for BodyError", body => 400, 408, 413;
        "IntoError for FileNameError", too_long => 400;
        "IntoError for SqlError", database => 409, 500, 503;
        "IntoError for StoreError", store => 400, 404, 409, 500, 503;
        "IntoError for StoreError", refused => 400;
        "IntoError for CookieError", cookie => 400, 500;
        "IntoError for RpcError", |code| RpcError::new(7, "x").status(code) => 400, 409, 503;
        "IntoError for ReadError", misread => 400;
        "IntoError for Response", response => 202, 404;
        "IntoError for Redirect", redirect => 303, 307, 308;
        "IntoError for StatusCode", status => 304, 404, 503;
        "IntoError for (StatusCode, &'static str)", |code| (status(code), "x") => 202, 404, 503;
        "IntoError for (StatusCode, String)", |code| (status(code), "x".to_owned()) => 302, 404, 503;
        "IntoError for (StatusCode, Cow<'static, str>)",
            |code| (status(code), Cow::Borrowed("x")) => 202, 404, 503;
        "IntoError for (StatusCode, Value)", |code| (status(code), json!([1])) => 202, 404;
        "IntoError for (StatusCode, Json<T>)", |code| (status(code), tea()) => 404;
        "IntoError for (StatusCode, Html<T>)", |code| (status(code), Html("<p>")) => 404;
    };
    cases.into_iter().flatten().collect()
}

pub(super) fn cases() -> Vec<Case> {
    [plain(), parts_of_replies(), helpers(), failures()].into_iter().flatten().collect()
}
