//! Echoes JSON. Requests and responses may be compressed with gzip, brotli or
//! zstd.

use stockade::middleware::{with_compression, with_decompression};
use stockade::prelude::*;

fn router() -> Router {
    let api = routes! {
        middleware: [with_compression(), with_decompression()],
        POST: async |Body(value): Body<Value>| value,
    };
    create_router(api, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use stockade::testing::{TestClient, TestResponse};

    use super::*;

    /// Text that is long enough to be compressed.
    fn json_text() -> String {
        let parts = ["leaves", "water"].repeat(100);
        json!({ "name": "tea", "parts": parts }).to_string()
    }

    fn compressed(coding: &str) -> Vec<u8> {
        let (text, mut bytes) = (json_text(), Vec::new());
        match coding {
            "gzip" => {
                let mut encoder = flate2::write::GzEncoder::new(&mut bytes, Default::default());
                encoder.write_all(text.as_bytes()).unwrap();
                encoder.finish().unwrap();
            }
            "br" => {
                brotli::BrotliCompress(&mut text.as_bytes(), &mut bytes, &Default::default())
                    .unwrap();
            }
            _ => bytes = zstd::encode_all(text.as_bytes(), 0).unwrap(),
        }
        bytes
    }

    fn decompressed(coding: &str, bytes: &[u8]) -> String {
        let mut text = Vec::new();
        match coding {
            "gzip" => {
                flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
            }
            "br" => brotli::BrotliDecompress(&mut &*bytes, &mut text).unwrap(),
            _ => text = zstd::decode_all(bytes).unwrap(),
        }
        String::from_utf8(text).unwrap()
    }

    async fn ask(body: Vec<u8>, header: &str, coding: &str) -> TestResponse {
        let request = TestClient::new(router()).post("/").body(body);
        request.header("content-type", "application/json").header(header, coding).await
    }

    #[tokio::test]
    async fn requests_are_decompressed() {
        for coding in ["gzip", "br", "zstd"] {
            let response = ask(compressed(coding), "content-encoding", coding).await;
            response
                .assert_status(200)
                .assert_text(&json_text())
                .assert_no_header("content-encoding");
        }
    }

    #[tokio::test]
    async fn responses_are_compressed_on_request() {
        for coding in ["gzip", "br", "zstd"] {
            let response = ask(json_text().into(), "accept-encoding", coding).await;
            response.assert_status(200).assert_header("content-encoding", coding);
            assert_eq!(decompressed(coding, response.bytes()), json_text());
        }
        let plain = ask(json_text().into(), "accept-encoding", "identity").await;
        plain.assert_text(&json_text()).assert_no_header("content-encoding");
    }
}
