//! The command `health`, which a container runs to check the server.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use stockade::prelude::*;

/// Returns an error unless the server at this address accepts requests.
pub fn run(address: &str) -> Result<(), BoxError> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let request = "GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    if response.starts_with("HTTP/1.1 200 ") {
        Ok(())
    } else {
        Err(format!("the server is not ready: {response}").into())
    }
}
