//! Three pages with a shared layout, from minijinja templates that are loaded
//! at startup.

use minijinja::{Environment, context};
use stockade::prelude::*;

type Pages = State<Environment<'static>>;

async fn home(pages: Pages) -> Result<Html<String>, BoxError> {
    let values = context! { title => "Home", welcome => "Hello World!" };
    Ok(Html(pages.get_template("home")?.render(values)?))
}

async fn content(pages: Pages) -> Result<Html<String>, BoxError> {
    let values = context! { title => "Content", entries => ["Data 1", "Data 2", "Data <3>"] };
    Ok(Html(pages.get_template("content")?.render(values)?))
}

async fn about(pages: Pages) -> Result<Html<String>, BoxError> {
    let values = context! { title => "About", about => "A layout, and pages that extend it." };
    Ok(Html(pages.get_template("about")?.render(values)?))
}

fn pages() -> Result<Environment<'static>, minijinja::Error> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| minijinja::AutoEscape::Html);
    pages.add_template("layout", include_str!("../../templates/layout.jinja"))?;
    pages.add_template("home", include_str!("../../templates/home.jinja"))?;
    pages.add_template("content", include_str!("../../templates/content.jinja"))?;
    pages.add_template("about", include_str!("../../templates/about.jinja"))?;
    Ok(pages)
}

fn app() -> Result<App, BoxError> {
    let api = routes! { GET: home, "content": { GET: content }, "about": { GET: about } };
    Ok(create_router(api, RouterOptions::new()).state(pages()?).build()?)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    app()?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn each_page_has_the_layout_and_its_own_text() {
        let client = TestClient::new(app().unwrap());
        for (path, title, text) in [
            ("/", "Home", "<p>Hello World!</p>"),
            ("/content", "Content", "<li>Data 1</li><li>Data 2</li><li>Data &lt;3&gt;</li>"),
            ("/about", "About", "<p>A layout, and pages that extend it.</p>"),
        ] {
            let page = client.get(path).await;
            page.assert_status(200).assert_header("content-type", "text/html; charset=utf-8");
            page.assert_text_contains(&format!("<h1>{title}</h1>")).assert_text_contains(text);
            page.assert_text_contains("<a href=\"/about\">About</a>");
        }
    }
}
