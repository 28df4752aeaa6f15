//! Authentication with tokens (JWT): one route issues them, another requires
//! them.
//!
//! ```text
//! JWT_SECRET='a secret of thirty-two bytes or more' \
//!     cargo run -p stockade-examples --bin jwt
//! curl localhost:3000/authorize -H content-type:application/json \
//!     -d '{"client_id": "foo", "client_secret": "bar"}'
//! curl localhost:3000/protected -H "authorization: Bearer $TOKEN"
//! ```

use serde::{Deserialize, Serialize};
use stockade::auth::{IssueError, generate_jwt};
use stockade::prelude::*;

#[derive(Deserialize, Serialize)]
struct Claims {
    sub: String,
    company: String,
}

#[derive(Deserialize, Schema)]
struct Credentials {
    #[schema(min_length = 1)]
    client_id: String,
    #[schema(min_length = 1)]
    client_secret: String,
}

#[derive(Serialize, Schema)]
struct Token {
    access_token: String,
    token_type: &'static str,
}

#[derive(ApiError, Debug)]
enum AuthError {
    #[status(401, "Wrong credentials")]
    WrongCredentials,
    #[status(500, "Token creation error")]
    TokenCreation(#[from] IssueError),
}

async fn authorize(
    secret: State<Secret>,
    Body(credentials): Body<Credentials>,
) -> Result<Token, AuthError> {
    // A real program looks them up in a database.
    if (&*credentials.client_id, &*credentials.client_secret) != ("foo", "bar") {
        return Err(AuthError::WrongCredentials);
    }
    let claims = Claims { sub: "b@b.com".to_owned(), company: "ACME".to_owned() };
    Ok(Token { access_token: generate_jwt(claims, "1h", &*secret)?, token_type: "Bearer" })
}

async fn protected(User(claims): User<Claims>) -> String {
    let Claims { sub, company } = claims;
    format!("Welcome to the protected area :)\nYour data:\nEmail: {sub}\nCompany: {company}")
}

fn router(secret: Secret) -> Router {
    let token = Auth::secret(secret.clone());
    let api = routes! {
        "authorize": { POST: authorize },
        "protected": { GET: { protected, auth: token } },
    };
    create_router(api, RouterOptions::new()).state(secret)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let secret = Secret::new(std::env::var("JWT_SECRET")?)?;
    router(secret).listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    fn client() -> TestClient {
        TestClient::new(router(Secret::new("a secret of tests only, 32 bytes").unwrap()))
    }

    #[tokio::test]
    async fn a_token_gives_access_to_the_protected_area() {
        let client = client();
        let credentials = json!({ "client_id": "foo", "client_secret": "bar" });
        let token: Value = client.post("/authorize").json(credentials).await.json();
        assert_eq!(token["token_type"], "Bearer");
        let token = token["access_token"].as_str().unwrap();
        let response = client.get("/protected").bearer(token).await;
        response.assert_status(200).assert_text_contains("Email: b@b.com\nCompany: ACME");
    }

    #[tokio::test]
    async fn rejects_other_credentials() {
        let client = client();
        let absent = client.get("/protected").await;
        absent.assert_status(401).assert_header("www-authenticate", "Bearer");
        client.get("/protected").bearer("blah.blah.blah").await.assert_status(401);
    }

    #[tokio::test]
    async fn credentials_are_checked() {
        let request = client().post("/authorize");
        let wrong = request.json(json!({ "client_id": "foo", "client_secret": "foo" })).await;
        wrong.assert_status(401).assert_error("Wrong credentials");
        let request = client().post("/authorize");
        let missing = request.json(json!({ "client_id": "foo", "client_secret": "" })).await;
        missing.assert_status(400).assert_field_error("client_secret", "minLength");
    }
}
