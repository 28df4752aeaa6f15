//! [`Server`]: a router with options, ready to listen. [`BoundServer`]: a
//! server with its port. [`ServerHandle`]: stops a server from elsewhere.
// Spec: Router construction and members › createServer.

use std::fmt;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

use stockade_core::BoxFuture;
use stockade_errors::ConfigError;
use stockade_routing::{App, Router};
use tokio::sync::watch;

use crate::accept::{self, Stage};
use crate::application::Application;
use crate::connection::Shared;
use crate::listener::Bound;
use crate::signals::{self, Signals, advance};
use crate::start::Start;
#[cfg(feature = "tls")]
use crate::tls::TlsConfig;
use crate::{ListenAddr, ServeError, ServerOptions, heap};

/// Creates a server from a router, a built application, or a tower service
/// ([`FromTower`](crate::FromTower)).
///
/// Several servers of one [`App`] share its routes, handlers, state and
/// counters:
///
/// ```no_run
/// use stockade::Router;
/// use stockade::server::CreateServer;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let mut router = Router::new();
/// router.get("/health", async || "ok");
/// let app = router.build()?;
/// let inside = app.clone().create_server()?.bind(3000).await?;
/// let outside = app.create_server()?.bind("0.0.0.0:3001").await?;
/// tokio::try_join!(inside.serve(), outside.serve())?;
/// # Ok(())
/// # }
/// ```
// Spec: Router construction and members › createServer.
pub trait CreateServer: Sized {
    /// Creates a server with the default options.
    ///
    /// # Errors
    /// All configuration errors in the routes.
    #[track_caller]
    #[doc(alias = "createServer")]
    fn create_server(self) -> Result<Server, ConfigError> {
        self.create_server_with(ServerOptions::default())
    }

    /// Creates a server with options.
    ///
    /// # Errors
    /// All configuration errors in the routes and the options, such as a
    /// timeout of 0.
    #[track_caller]
    fn create_server_with(self, options: ServerOptions) -> Result<Server, ConfigError>;

    /// Creates a server with the default options and serves until SIGTERM or
    /// SIGINT (Ctrl-C): [`create_server`](Self::create_server), then
    /// [`Server::listen`].
    ///
    /// ```no_run
    /// use stockade::prelude::*;
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), ServeError> {
    ///     Router::from(routes! { "hello": { GET: async || "hi" } }).listen(3000).await
    /// }
    /// ```
    ///
    /// # Errors
    /// [`ServeError::Config`] with every configuration error, and the errors of
    /// [`Server::bind`].
    #[track_caller]
    fn listen(
        self,
        address: impl ListenAddr,
    ) -> impl Future<Output = Result<(), ServeError>> + Send {
        let server = self.create_server();
        async move { server?.listen(address).await }
    }
}

impl CreateServer for Router {
    #[track_caller]
    fn create_server_with(self, options: ServerOptions) -> Result<Server, ConfigError> {
        let location = Location::caller();
        let of_options = options.issues().into_iter().map(|mistake| mistake.at(location));
        let built = self.build();
        let of_routes = built.as_ref().err().map_or(&[][..], ConfigError::issues);
        ConfigError::check(of_routes.iter().cloned().chain(of_options).collect())?;
        let app = built?.with_options(options.of_host())?;
        Ok(Server::of(Application::App(app), options))
    }
}

/// Creates a server from an application that is already built.
impl CreateServer for App {
    #[track_caller]
    fn create_server_with(self, options: ServerOptions) -> Result<Server, ConfigError> {
        let location = Location::caller();
        let mistakes = options.issues().into_iter().map(|mistake| mistake.at(location));
        ConfigError::check(mistakes.collect())?;
        let app = self.with_options(options.of_host())?;
        Ok(Server::of(Application::App(app), options))
    }
}

/// A router with options, ready to listen.
///
/// Everything runs on the caller's tokio runtime.
#[must_use = "a server does nothing until it listens"]
pub struct Server {
    app: Application,
    options: ServerOptions,
    /// True if the program does not receive the address itself.
    is_announced: bool,
    #[cfg(feature = "tls")]
    tls: Option<TlsConfig>,
}

impl Server {
    /// Creates a server from validated options.
    pub(crate) fn of(app: Application, options: ServerOptions) -> Self {
        Self {
            app,
            options,
            is_announced: false,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Accepts only HTTPS, and HTTP/2 by ALPN. The TLS handshake counts toward
    /// [`header_read_timeout`](ServerOptions::header_read_timeout).
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: TlsConfig) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Listens and serves until the process gets SIGTERM or SIGINT (Ctrl-C),
    /// then shuts down gracefully. A second signal ends it immediately.
    ///
    /// The address is logged, with the documentation page if there is one.
    /// They are printed to stderr if there is no logger
    /// ([`ServerOptions::announce`]). A bare port number listens on this
    /// machine only (127.0.0.1); `"0.0.0.0:3000"` accepts connections from
    /// other machines. [`ListenAddr`] lists the other options: open listeners,
    /// Unix sockets, custom acceptors, and several listeners at once.
    ///
    /// # Errors
    /// The errors of [`bind`](Self::bind).
    pub async fn listen(self, address: impl ListenAddr) -> Result<(), ServeError> {
        self.app.start().await?;
        let (listeners, _) = address.open(&self.options).await?;
        self.announce_and_serve(listeners).await
    }

    /// Announces the address, then serves until a signal. Not generic, because
    /// every program compiles the body of `listen` again.
    fn announce_and_serve(
        mut self,
        listeners: Vec<Bound>,
    ) -> BoxFuture<'static, Result<(), ServeError>> {
        self.is_announced = self.options.announce;
        self.serve(listeners, watch::Sender::new(Stage::Running), true)
    }

    /// Serves on listeners until a shutdown: [`run`](Self::run), compiled in
    /// this crate.
    ///
    /// The body of an `async fn` is compiled in each program that awaits it,
    /// including everything it awaits. hyper, h2 and the server's tasks added
    /// 130,000 lines of LLVM IR to each program; a program with two routes had
    /// 133,000. Behind `dyn` they are compiled once, with this crate.
    fn serve(
        self,
        listeners: Vec<Bound>,
        stage: watch::Sender<Stage>,
        signals: bool,
    ) -> BoxFuture<'static, Result<(), ServeError>> {
        Box::pin(self.run(listeners, stage, signals))
    }

    /// Serves on listeners until a shutdown.
    async fn run(
        self,
        listeners: Vec<Bound>,
        stage: watch::Sender<Stage>,
        signals: bool,
    ) -> Result<(), ServeError> {
        heap::keep_freed_memory();
        let options = self.options;
        let start = Start { documents: self.app.documents_page(), prints: self.is_announced };
        let shared = Shared::new(self.app, &options);
        #[cfg(feature = "tls")]
        let watching = watch(self.tls.clone());
        #[cfg(feature = "tls")]
        let shared = shared.with_tls(self.tls);
        let scheme = if shared.is_tls() { "https" } else { "http" };
        let signals = if signals {
            Some(Signals::watch().map_err(|source| ServeError::Signals { source })?)
        } else {
            None
        };
        let mut locals: Vec<_> = listeners.iter().map(Bound::local).collect();
        // Several acceptors share one address.
        locals.dedup();
        start.announce(scheme, &locals);
        let serving = accept::serve(listeners, Arc::new(shared), stage.clone());
        #[cfg(feature = "tls")]
        let serving = async {
            tokio::select! {
                () = serving => {}
                () = watching => {}
            }
        };
        let Some(signals) = signals else {
            serving.await;
            return Ok(());
        };
        let obeying = async {
            signals::obey(signals, stage).await;
            std::future::pending().await
        };
        tokio::select! {
            () = serving => Ok(()),
            never = obeying => never,
        }
    }

    /// Starts the application ([`App::start`]) and binds the address without
    /// serving yet. From now on, connections wait.
    ///
    /// # Errors
    /// [`ServeError::Start`] if the application cannot start, or an address
    /// error if binding fails, for example because the address is in use.
    pub async fn bind<L: ListenAddr>(
        self,
        address: L,
    ) -> Result<BoundServer<L::Local>, ServeError> {
        self.app.start().await?;
        let (listeners, local_addr) = address.open(&self.options).await?;
        let stage = watch::Sender::new(Stage::Running);
        let handle = ServerHandle { stage, local_addr };
        Ok(BoundServer { server: self, listeners, handle, signals: false })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Watches for new certificates forever, if there is TLS.
#[cfg(feature = "tls")]
async fn watch(tls: Option<TlsConfig>) {
    match tls {
        Some(tls) => tls.watch().await,
        None => std::future::pending().await,
    }
}

/// A server with a bound address. `L` is the address type,
/// [`ListenAddr::Local`].
#[derive(Debug)]
#[must_use = "a server does nothing until it serves"]
pub struct BoundServer<L = SocketAddr> {
    server: Server,
    listeners: Vec<Bound>,
    handle: ServerHandle<L>,
    signals: bool,
}

impl<L: Clone> BoundServer<L> {
    /// Returns the address, with the actual port instead of port 0. For several
    /// listeners, it returns a list in the order of their addition.
    #[must_use]
    pub fn local_addr(&self) -> L {
        self.handle.local_addr()
    }

    /// Returns a handle that stops the server from elsewhere.
    #[must_use]
    pub fn handle(&self) -> ServerHandle<L> {
        self.handle.clone()
    }

    /// Also shuts down on SIGTERM and SIGINT (Ctrl-C). A second signal ends the
    /// server immediately.
    ///
    /// Once [`serve`](Self::serve) is called, these signals no longer terminate
    /// the process by default, even after the server has ended. (On systems
    /// other than Unix this begins a moment later.)
    pub fn with_signals(mut self) -> Self {
        self.signals = true;
        self
    }

    /// Serves until [`ServerHandle::shutdown`] is called. Signals are watched
    /// only after [`with_signals`](Self::with_signals).
    ///
    /// A shutdown has these steps:
    ///
    /// 1. The [`Readiness`](stockade_stages::health::Readiness) in the state of
    ///    the application becomes false. The server continues as before for
    ///    [`shutdown_delay`](ServerOptions::shutdown_delay).
    /// 2. The port closes. Connections that are idle, or with an incomplete
    ///    request head, close immediately. An HTTP/2 client has one second to
    ///    answer GOAWAY.
    /// 3. Running requests, and handlers that run to completion without their
    ///    clients, may finish within
    ///    [`shutdown_timeout`](ServerOptions::shutdown_timeout). After that the
    ///    rest is cut off, and this returns.
    ///
    /// Dropping the future cuts off everything immediately.
    ///
    /// # Errors
    /// Fails if signals cannot be watched. Connection errors are not returned.
    pub async fn serve(self) -> Result<(), ServeError> {
        let Self { server, listeners, handle, signals } = self;
        server.serve(listeners, handle.stage, signals).await
    }

    /// Serves like [`serve`](Self::serve), and shuts down when `done`
    /// completes.
    ///
    /// # Errors
    /// The errors of [`serve`](Self::serve).
    pub async fn serve_until(self, done: impl Future<Output = ()>) -> Result<(), ServeError> {
        let handle = self.handle();
        let done = async {
            done.await;
            handle.shutdown();
            std::future::pending().await
        };
        tokio::select! {
            served = self.serve() => served,
            never = done => never,
        }
    }
}

/// A handle that stops a server from elsewhere. Clones stop the same server.
#[derive(Clone, Debug)]
pub struct ServerHandle<L = SocketAddr> {
    stage: watch::Sender<Stage>,
    local_addr: L,
}

impl<L> ServerHandle<L> {
    /// Begins a graceful shutdown; see [`BoundServer::serve`]. Further calls do
    /// nothing.
    pub fn shutdown(&self) {
        advance(&self.stage, Stage::Leaving);
    }

    /// Stops the server immediately and cuts off running requests.
    pub fn shutdown_now(&self) {
        advance(&self.stage, Stage::Ended);
    }

    /// Returns the address of the server.
    #[must_use]
    pub fn local_addr(&self) -> L
    where
        L: Clone,
    {
        self.local_addr.clone()
    }
}
