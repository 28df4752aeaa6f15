//! [`Proxy`]: the connection of one process to its store, which a test can cut.
//! Both ends keep their sockets, but no data arrives.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

pub struct Proxy {
    pub port: u16,
    is_cut_off: Arc<AtomicBool>,
}

impl Proxy {
    /// Forwards connections to a local port until the program ends.
    pub fn to(port: u16) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let own = listener.local_addr().map_err(|error| error.to_string())?.port();
        let is_cut_off = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_cut_off);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // If the store is down, the connection closes.
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)) {
                    let _ = pass(client, server, &told);
                }
            }
        });
        Ok(Self { port: own, is_cut_off })
    }

    /// Drops all data, or lets new connections through again.
    pub fn cut_off(&self, is_cut_off: bool) {
        self.is_cut_off.store(is_cut_off, Ordering::Relaxed);
    }
}

fn pass(client: TcpStream, server: TcpStream, told: &Arc<AtomicBool>) -> std::io::Result<()> {
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    // Once a stream has lost data, it delivers nothing more in either
    // direction.
    let is_lost = Arc::new(AtomicBool::new(false));
    let ways = [(client.try_clone()?, server.try_clone()?), (server, client)];
    for (from, to) in ways {
        let (told, is_lost) = (Arc::clone(told), Arc::clone(&is_lost));
        thread::spawn(move || copy(from, to, &told, &is_lost));
    }
    Ok(())
}

/// Copies one direction until it ends.
fn copy(mut from: TcpStream, mut to: TcpStream, told: &AtomicBool, is_lost: &AtomicBool) {
    let mut piece = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if told.load(Ordering::Relaxed) {
            is_lost.store(true, Ordering::Relaxed);
        }
        if !is_lost.load(Ordering::Relaxed) && to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    // The other end may already be closed.
    let _ = to.shutdown(Shutdown::Both);
}
