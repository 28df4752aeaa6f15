//! TCP listeners, bound here or passed in, and their socket options.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::listener::Bound;
use crate::{ServeError, ServerOptions};

/// Opens the listeners of an address, one for each acceptor.
pub(crate) fn open(
    address: SocketAddr,
    options: &ServerOptions,
) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
    let shares = options.reuse_port || options.acceptors > 1;
    let (mut all, local) = take(listen(address, options.backlog, shares)?)?;
    // Uses the bound address, because the port may have been 0.
    for _ in 1..options.acceptors {
        all.extend(take(listen(local, options.backlog, shares)?)?.0);
    }
    Ok((all, local))
}

/// Opens a listening socket. With `shares`, other sockets can use the same
/// address.
pub(crate) fn listen(
    address: SocketAddr,
    backlog: u32,
    shares: bool,
) -> Result<TcpListener, ServeError> {
    let open = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Allows a restart while old connections of the server are in
        // TIME_WAIT. On Windows the option would let two processes share a
        // port.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        if shares {
            share_port(&socket)?;
        }
        socket.bind(address)?;
        socket.listen(backlog)
    };
    open().map_err(|source| ServeError::Bind { address, source })
}

/// Allows other sockets on the same address.
#[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))))]
fn share_port(socket: &TcpSocket) -> io::Result<()> {
    socket.set_reuseport(true)
}

#[cfg(not(all(
    unix,
    not(any(target_os = "solaris", target_os = "illumos", target_os = "cygwin"))
)))]
fn share_port(_: &TcpSocket) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system does not support SO_REUSEPORT"))
}

/// Takes over a listener of the standard library.
pub(crate) fn from_std(listener: std::net::TcpListener) -> Result<TcpListener, ServeError> {
    let take = || {
        // tokio would otherwise block in the system call.
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    };
    take().map_err(ServeError::of_listener)
}

/// Takes over a listener, and returns its address.
pub(crate) fn take(listener: TcpListener) -> Result<(Vec<Bound>, SocketAddr), ServeError> {
    let local = listener.local_addr().map_err(ServeError::of_listener)?;
    let bound = Bound::tcp(listener).map_err(ServeError::of_listener)?;
    Ok((vec![bound], local))
}

/// Sets the options of a socket. Failures are only logged.
pub(crate) fn set_up(stream: &TcpStream, address: SocketAddr, options: &ServerOptions) {
    let note = |option: &str, outcome: io::Result<()>| {
        if let Err(error) = outcome {
            log::debug!(target: "stockade::server", "{option} on {address}: {error}");
        }
    };
    note("TCP_NODELAY", stream.set_nodelay(options.tcp_nodelay));
    let socket = SockRef::from(stream);
    // Otherwise a client that vanishes without closing, such as a machine that
    // loses power, would occupy its slot as long as its request runs.
    note("SO_KEEPALIVE", socket.set_tcp_keepalive(&keepalive()));
    #[cfg(any(target_os = "android", target_os = "linux"))]
    if let Some(bytes) = options.tcp_notsent_lowat {
        note("TCP_NOTSENT_LOWAT", socket.set_tcp_notsent_lowat(bytes));
    }
    if let Some(bytes) = options.tcp_send_buffer {
        note("SO_SNDBUF", socket.set_send_buffer_size(bytes as usize));
    }
}

/// Returns the schedule of the keep-alive probes for silent clients.
fn keepalive() -> TcpKeepalive {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE);
    // The values of other systems cannot be set.
    #[cfg(any(
        target_os = "android",
        target_os = "dragonfly",
        target_os = "freebsd",
        target_os = "illumos",
        target_os = "ios",
        target_os = "linux",
        target_os = "macos",
        target_os = "netbsd",
        target_os = "windows",
    ))]
    let keepalive = keepalive.with_interval(KEEPALIVE_INTERVAL).with_retries(KEEPALIVE_RETRIES);
    keepalive
}

/// The silence of a connection before the first keep-alive probe.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);

/// The time between two probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// The number of unanswered probes that end the connection.
const KEEPALIVE_RETRIES: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a connection after the server has set it up.
    async fn accepted(listener: &TcpListener, options: &ServerOptions) -> TcpStream {
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, address) = listener.accept().await.unwrap();
        set_up(&stream, address, options);
        stream
    }

    #[tokio::test]
    async fn enables_tcp_keepalive() {
        let listener = listen(([127, 0, 0, 1], 0).into(), 1, false).unwrap();
        let stream = accepted(&listener, &ServerOptions::new()).await;
        assert!(stream.nodelay().unwrap());
        let socket = SockRef::from(&stream);
        assert!(socket.keepalive().unwrap());
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(60));
            assert_eq!(socket.tcp_keepalive_interval().unwrap(), Duration::from_secs(10));
            assert_eq!(socket.tcp_keepalive_retries().unwrap(), 6);
        }
    }

    #[cfg(any(target_os = "android", target_os = "linux"))]
    #[tokio::test]
    async fn sets_tcp_notsent_lowat_and_the_send_buffer() {
        let listener = listen(([127, 0, 0, 1], 0).into(), 1, false).unwrap();
        let buffers = async |options| {
            let stream = accepted(&listener, &options).await;
            let socket = SockRef::from(&stream);
            (socket.tcp_notsent_lowat().unwrap(), socket.send_buffer_size().unwrap())
        };
        let (unsent, adapted) = buffers(ServerOptions::new()).await;
        assert_eq!(unsent, 524_288);
        let options = ServerOptions::new().tcp_notsent_lowat(false).tcp_send_buffer(8_192);
        let (unsent, buffer) = buffers(options).await;
        assert_ne!(unsent, 524_288, "the system's");
        assert_eq!(buffer, 2 * 8_192);
        assert_ne!(buffer, adapted);
    }
}
