//! `#[derive(Schema)]` and `#[derive(ApiError)]` through the facade crate.
// Spec: Handler contract; Errors › Error classes.

use std::error::Error as _;
use std::fmt;

use serde::Serialize;
use stockade::prelude::*;
use stockade::validation::{HasSchema, Rule};

use crate::support::{app_of, check, header_of};

#[derive(Serialize, Schema)]
struct User {
    id: u64,
}

#[derive(Serialize, Schema)]
struct Page<T>
where
    T: Clone,
{
    items: Vec<T>,
}

#[derive(Serialize)]
struct Borrowed<'a, const N: usize> {
    names: [&'a str; 1],
}

impl<const N: usize> HasSchema for Borrowed<'static, N> {
    fn rule() -> Rule {
        Rule::object([("names", <[&'static str; 1]>::rule())])
    }
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Round,
    Square { side: u8 },
}

#[derive(Clone, Schema, Serialize)]
struct Item(u8);

/// A type that is only read compiles without `Serialize`; it is not a reply.
#[derive(serde::Deserialize, Schema)]
struct Sent<T> {
    value: T,
}

/// A type with a handwritten `Serialize` and its own `impl Reply`.
#[derive(Serialize, Schema)]
#[schema(no_reply)]
struct Csv {
    rows: Vec<String>,
}

impl Reply for Csv {
    fn into_response(self) -> Result<Response, ApiError> {
        ([("content-type", "text/csv")], self.rows.join("\n")).into_response()
    }
}

/// A generic type that implements `Serialize` for only one parameter.
#[derive(Schema)]
struct Wrapper<T>(T);

impl Serialize for Wrapper<u8> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

#[test]
fn one_derive_creates_a_response() {
    let app = app_of(routes! {
        "sent": { POST: async |Body(it): Body<Sent<String>>| it.value },
        "csv": { GET: async || Csv { rows: vec!["a,b".to_owned(), "c,d".to_owned()] } },
        "wrapper": { GET: async || Wrapper(7) },
    });
    let json = "POST /sent\ncontent-type: application/json\n\n";
    check(&app, &format!("{json}{{\"value\":\"a\"}}"), "200 a");
    check(&app, "GET /csv", "200 a,b\nc,d");
    check(&app, "GET /wrapper", "200 7");
    // A generic wrapper, for example of a `String`, has a schema without
    // `Serialize`.
    assert!(Wrapper::<String>::schema().is_ok());
}

#[test]
fn responses_are_json() {
    let app = app_of(routes! {
        "user": { GET: async || User { id: 7 } },
        "page": { GET: async || Page { items: vec![Item(1), Item(2)] } },
        "borrowed": { GET: async || Json(Borrowed::<3> { names: ["Ada"] }) },
        "round": { GET: async || Shape::Round },
        "square": { GET: async || (StatusCode::CREATED, Shape::Square { side: 2 }) },
        "none": { GET: async || None::<User> },
    });
    check(&app, "GET /user", r#"200 {"id":7}"#);
    check(&app, "GET /page", r#"200 {"items":[1,2]}"#);
    check(&app, "GET /borrowed", r#"200 {"names":["Ada"]}"#);
    check(&app, "GET /round", r#"200 "round""#);
    check(&app, "GET /square", r#"201 {"square":{"side":2}}"#);
    check(&app, "GET /none", "204");
    assert_eq!(header_of(&app, "GET /user", "content-type"), "application/json");
}

#[derive(ApiError, Debug)]
enum ShopError {
    #[status(404, "no product {id}")]
    NoProduct { id: u64 },
    #[status(409, "{0} is sold out in {1:?} {{sizes}}")]
    SoldOut(String, Vec<u8>),
    #[status(410, "gone")]
    Gone,
    #[status(422, "{r#type:>width$.1}|{share:0width$.1}")]
    Padded { r#type: &'static str, share: f64, width: usize },
    #[status(502, "the bank did not answer")]
    Bank(#[from] std::io::Error),
    #[status(503, "the stock is not known")]
    Stock { source: Box<dyn std::error::Error + Send + Sync> },
    #[status(400, "the order cannot be filled")]
    Order {
        #[details]
        missing: Vec<Item>,
        #[source]
        cause: Option<fmt::Error>,
    },
    #[status(400, "perhaps")]
    Perhaps(#[details] Option<Value>),
}

// Only the test of error details prints `Item`.
impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Item")
    }
}

#[track_caller]
fn answers(error: impl Into<ApiError>, expected: &str) {
    let error = error.into();
    assert_eq!(format!("{} {}", error.status(), error.body(true)), expected);
}

#[test]
fn messages_show_fields() {
    answers(ShopError::NoProduct { id: 7 }, r#"404 {"error":"no product 7"}"#);
    answers(
        ShopError::SoldOut("coat".into(), vec![38]),
        r#"409 {"error":"coat is sold out in [38] {sizes}"}"#,
    );
    answers(ShopError::Gone, r#"410 {"error":"gone"}"#);
    answers(
        ShopError::Padded { r#type: "xyz", share: 0.25, width: 5 },
        r#"422 {"error":"    x|000.2"}"#,
    );
}

#[test]
fn details_can_be_any_serializable_value() {
    let order = ShopError::Order { missing: vec![Item(4)], cause: None };
    answers(order, r#"400 {"error":"the order cannot be filled","details":[4]}"#);
    answers(ShopError::Perhaps(None), r#"400 {"error":"perhaps"}"#);
    answers(ShopError::Perhaps(Some(json!(1))), r#"400 {"error":"perhaps","details":1}"#);
}

#[test]
fn preserves_the_order_of_causes() {
    fn pay() -> Result<(), ShopError> {
        Err(std::io::Error::other("reset"))?;
        Ok(())
    }
    let error = ApiError::from(pay().unwrap_err());
    assert_eq!((error.status(), error.message()), (502, "the bank did not answer"));
    let own = error.source().and_then(|source| source.downcast_ref::<ShopError>());
    let cause = own.and_then(ShopError::source).map(ToString::to_string);
    assert_eq!(cause.as_deref(), Some("reset"));

    let boxed = ShopError::Stock { source: "no shelf".into() };
    assert_eq!(boxed.source().map(ToString::to_string).as_deref(), Some("no shelf"));
    let cause = |cause| ShopError::Order { missing: Vec::new(), cause }.source().is_some();
    assert_eq!((cause(Some(fmt::Error)), cause(None)), (true, false));
    assert!(ShopError::Gone.source().is_none());
}

/// An error with a separate `Display`, as other derives produce it.
#[derive(ApiError, Debug)]
enum Plain {
    #[status(401)]
    Stranger,
    #[status(500)]
    Broken(u8),
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranger => f.write_str("who are you?"),
            Self::Broken(code) => write!(f, "broken {code}"),
        }
    }
}

impl std::error::Error for Plain {}

#[derive(ApiError, Debug)]
#[status(429, "wait {0} s")]
struct Wait(u64);

#[derive(ApiError, Debug)]
#[status(404, "no {what} {id:?}")]
struct Missing<T: Serialize, I: 'static> {
    what: &'static str,
    id: I,
    #[details]
    more: T,
}

#[derive(ApiError, Debug)]
#[status(500, "{0}")]
struct Wrapped<E>(#[source] E);

#[derive(ApiError, Debug)]
enum Never {}

// The expansion might use this name.
#[derive(ApiError, Debug)]
#[status(418, "no cause")]
struct Cause;

#[test]
fn the_display_text_is_the_default_message() {
    answers(Plain::Stranger, r#"401 {"error":"who are you?"}"#);
    answers(Plain::Broken(3), r#"500 {"error":"broken 3"}"#);
}

#[test]
fn structs_and_generic_types_can_be_errors() {
    answers(Wait(3), r#"429 {"error":"wait 3 s"}"#);
    answers(
        Missing { what: "user", id: "ada", more: vec!["eve"] },
        r#"404 {"error":"no user \"ada\"","details":["eve"]}"#,
    );
    let wrapped = Wrapped(fmt::Error);
    assert_eq!(wrapped.source().map(ToString::to_string), Some(fmt::Error.to_string()));
    answers(wrapped, &format!("500 {}", json!({ "error": fmt::Error.to_string() })));
    answers(Cause, r#"418 {"error":"no cause"}"#);
    assert!(None::<Never>.map(ApiError::from).is_none());
}

/// An error that responds like its inner error, and has its own variants too.
#[derive(ApiError, Debug)]
enum AppError {
    #[status(transparent)]
    Shop(#[from] ShopError),
    #[status(transparent)]
    Known(ApiError),
    #[status(transparent)]
    Boxed { inner: stockade::BoxError },
    #[status(422, "{reason}")]
    Own {
        reason: &'static str,
        #[details]
        more: u8,
    },
}

#[derive(ApiError, Debug)]
enum Either<T: std::error::Error + 'static, U: Into<ApiError>> {
    #[status(transparent)]
    Left(T),
    #[status(transparent)]
    Right(U),
}

#[derive(ApiError, Debug)]
#[status(transparent)]
struct Same<E>(E);

#[derive(ApiError, Debug)]
enum Mixed<E> {
    #[status(transparent)]
    Inner(E),
    #[status(410, "gone")]
    Gone,
}

/// An error without messages: the type writes the text for its own variants.
#[derive(ApiError, Debug)]
enum Silent {
    #[status(transparent)]
    Plain(Plain),
    #[status(409)]
    Busy,
}

impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("silent")
    }
}

impl std::error::Error for Silent {}

#[test]
fn transparent_variants_respond_like_their_field() {
    answers(AppError::from(ShopError::Gone), r#"410 {"error":"gone"}"#);
    let missing = vec![Item(4)];
    answers(
        AppError::Shop(ShopError::Order { missing, cause: None }),
        r#"400 {"error":"the order cannot be filled","details":[4]}"#,
    );
    answers(AppError::Own { reason: "own", more: 3 }, r#"422 {"error":"own","details":3}"#);
    answers(Same(Wait(2)), r#"429 {"error":"wait 2 s"}"#);
    answers(Either::<_, ApiError>::Left(Wait(2)), r#"429 {"error":"wait 2 s"}"#);
    answers(Either::<Wait, _>::Right(Same(Cause)), r#"418 {"error":"no cause"}"#);
    answers(Mixed::Inner(Cause), r#"418 {"error":"no cause"}"#);
    answers(Mixed::<Cause>::Gone, r#"410 {"error":"gone"}"#);
    answers(Silent::Plain(Plain::Broken(3)), r#"500 {"error":"broken 3"}"#);
    answers(Silent::Busy, r#"409 {"error":"silent"}"#);
}

#[test]
fn transparent_variants_keep_headers_and_causes_of_their_field() {
    let known = ApiError::new(503, "busy").with_header("retry-after", "3").with_source(Cause);
    let error = ApiError::from(AppError::Known(known));
    assert_eq!(error.headers().collect::<Vec<_>>(), [("retry-after", "3")]);
    assert!(error.source().is_some_and(|source| source.is::<Cause>()));

    // The source of the response is the inner error, not the outer one.
    let bank = || AppError::from(ShopError::from(std::io::Error::other("reset")));
    assert_eq!(bank().to_string(), "the bank did not answer");
    assert_eq!(bank().source().map(ToString::to_string).as_deref(), Some("reset"));
    let error = ApiError::from(bank());
    assert!(error.source().is_some_and(|source| source.is::<ShopError>()));

    let boxed = AppError::Boxed { inner: Box::new(Wrapped(fmt::Error)) };
    assert_eq!(boxed.source().map(ToString::to_string), Some(fmt::Error.to_string()));
    assert_eq!(ApiError::from(boxed).status(), 500);
}

#[test]
fn handlers_return_derived_errors_and_convert_them_with_a_question_mark() {
    async fn show(Path(id): Path<u64>) -> Result<User, ShopError> {
        if id == 7 { Ok(User { id }) } else { Err(ShopError::NoProduct { id }) }
    }
    async fn pay() -> Result<(), ApiError> {
        Err(ShopError::Bank(std::io::Error::other("reset")))?;
        Ok(())
    }
    let app = app_of(routes! { "pay": { POST: pay }, ":id": { GET: show } });
    check(&app, "GET /7", r#"200 {"id":7}"#);
    check(&app, "GET /8", r#"404 {"error":"no product 8"}"#);
    check(&app, "POST /pay", r#"502 {"error":"Bad Gateway"}"#);
}
