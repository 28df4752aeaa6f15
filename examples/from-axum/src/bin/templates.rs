//! A page from an askama template, which is compiled into the program.

use askama::Template;
use stockade::prelude::*;

#[derive(Template)]
#[template(path = "hello.html")]
struct Hello {
    name: String,
}

async fn greet(Path(name): Path<String>) -> Result<Html<String>, BoxError> {
    Ok(Html(Hello { name }.render()?))
}

fn app() -> Result<App, ConfigError> {
    let api = routes! { "greet": { ":name": { GET: greet } } };
    create_router(api, RouterOptions::new()).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    app()?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn the_name_is_in_the_page_and_escaped() {
        let client = TestClient::new(app().unwrap());
        let page = client.get("/greet/Ada").await;
        page.assert_status(200).assert_header("content-type", "text/html; charset=utf-8");
        page.assert_text("<h1>Hello, Ada!</h1>");
        let page = client.get("/greet/%3Cscript%3E").await;
        page.assert_text("<h1>Hello, &#60;script&#62;!</h1>");
    }
}
