//! A server for `cargo xtask hyper --patched`, which compiles it with a changed
//! hyper. Its port is in `PORT`.

use std::time::Duration;

use stockade::prelude::*;
use stockade::server::{CreateServer, ServerOptions};

/// Prints warnings and errors.
struct Logger;

impl log::Log for Logger {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            eprintln!("{} {}", record.level(), record.args());
        }
    }

    fn flush(&self) {}
}

/// Prints a line if the handler of `/slow` is canceled.
struct Canceled;

impl Drop for Canceled {
    fn drop(&mut self) {
        eprintln!("canceled");
    }
}

async fn slow() -> &'static str {
    let _canceled = Canceled;
    eprintln!("started");
    std::future::pending().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    log::set_logger(&Logger)?;
    log::set_max_level(log::LevelFilter::Warn);
    let port: u16 = std::env::var("PORT")?.parse()?;
    let mut router = Router::new();
    router.get("/small", async || "small");
    router.get("/large", async || "large ".repeat(30_000));
    router.get("/slow", slow);
    router.post("/echo", async |mut request: Request| -> Result<String, ApiError> {
        Ok(String::from_utf8_lossy(&request.bytes().await?).into_owned())
    });
    let options = ServerOptions::new().park_after(Duration::from_millis(100));
    router.create_server_with(options)?.listen(port).await?;
    Ok(())
}
