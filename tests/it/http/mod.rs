//! HTTP: content, files, streams, WebSockets and bytes on the wire.

mod compression_and_cookies;
mod content;
mod events;
mod file_names;
mod files;
mod proxy;
mod versions;
mod web_socket_compression;
mod web_sockets;
mod wire;
