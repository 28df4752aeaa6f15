//! [`Router::state`], [`Router::state_at_start`] and [`App::start`]: the values that an
//! application provides to its handlers.

use std::any::type_name;
use std::fmt;
use std::panic::Location;

use stockade_core::BoxFuture;
use stockade_errors::{BoxError, ConfigIssue};
use tokio::sync::Mutex;

use crate::app::App;
use crate::router::Router;

type Open = Box<dyn FnOnce(App) -> BoxFuture<'static, Result<(), BoxError>> + Send>;

/// The function that opens one value.
pub(crate) struct Opener {
    /// `None` once it runs.
    open: Option<Open>,
    is_done: bool,
    name: &'static str,
    place: &'static Location<'static>,
}

impl Opener {
    /// Returns the configuration error for a host that does not start the application.
    pub(crate) fn issue_in_host(&self) -> ConfigIssue {
        ConfigIssue::new(format!(
            "this host does not start the application, so nothing opens `State<{}>`: open the \
             value before, and use `state` instead of `state_at_start`",
            self.name
        ))
        .at(self.place)
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opener({})", self.name)
    }
}

/// The functions that open the values of an application, in the order of the calls.
#[derive(Debug)]
pub(crate) struct Openers(Mutex<Vec<Opener>>);

impl Openers {
    /// Returns `None` if there is nothing to open.
    pub(crate) fn of(openers: Vec<Opener>) -> Option<Self> {
        (!openers.is_empty()).then(|| Self(Mutex::new(openers)))
    }

    /// Opens each value that is not open.
    async fn run(&self, app: &App) -> Result<(), BoxError> {
        let mut openers = self.0.lock().await;
        for opener in openers.iter_mut().filter(|it| !it.is_done) {
            let name = opener.name;
            let again = || format!("an earlier start did not open the state {name}");
            let open = opener.open.take().ok_or_else(again)?;
            open(app.clone()).await?;
            opener.is_done = true;
        }
        Ok(())
    }
}

/// Dependency injection.
impl Router {
    /// Provides a value for `State<T>`, and replaces an earlier one of its type. Default:
    /// none.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::testing::TestClient;
    ///
    /// struct Greeting(&'static str);
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let api = routes! { "hello": { GET: async |word: State<Greeting>| word.0.0 } };
    /// let router = create_router(api, RouterOptions::new()).state(Greeting("hi"));
    /// TestClient::new(router).get("/hello").await.assert_text("hi");
    /// # }
    /// ```
    #[doc(alias("inject", "with_state", "dependency injection"))]
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Provides a value for `State<T>` that is opened when the application starts, such as
    /// the pool of a database. Default: none.
    ///
    /// [`App::start`] opens it. The server calls this before it binds its address, and a
    /// `TestClient` before its first request. [Commands](App::run_command) do not call it,
    /// so `my-program routes` works without a database.
    ///
    /// Values are opened in the order of these calls. `open` gets the application, whose
    /// [`state`](App::state) has the values that are open already. An error stops the start.
    ///
    /// A host that runs the routes without an [`App`], such as axum or actix-web, does not
    /// start it; there this is a configuration error.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::testing::TestClient;
    ///
    /// struct Db {
    ///     greeting: String,
    /// }
    ///
    /// impl Db {
    ///     async fn open(_url: &str) -> Result<Self, BoxError> {
    ///         Ok(Self { greeting: "hi".to_owned() })
    ///     }
    /// }
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), BoxError> {
    ///     let api = routes! { "hello": { GET: async |db: State<Db>| db.greeting.clone() } };
    ///     let app = create_router(api, RouterOptions::new())
    ///         .state_at_start(async |_| Db::open("postgres://…").await)
    ///         .build()?;
    ///     if app.run_command(std::env::args()).await? {
    ///         return Ok(());
    ///     }
    ///     assert!(app.state::<Db>().is_none());
    ///     TestClient::new(&app).get("/hello").await.assert_text("hi");
    ///     assert!(app.state::<Db>().is_some());
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    #[doc(alias("lifespan", "on_startup", "lazy"))]
    pub fn state_at_start<T, E, Fut>(
        mut self,
        open: impl FnOnce(App) -> Fut + Send + 'static,
    ) -> Self
    where
        T: Send + Sync + 'static,
        E: Into<BoxError>,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        let late = self.states.insert_late::<T>();
        let open = move |app| -> BoxFuture<'static, Result<(), BoxError>> {
            let opening = open(app);
            Box::pin(async move {
                late.set(opening.await.map_err(Into::into)?);
                Ok(())
            })
        };
        let (name, place) = (type_name::<T>(), Location::caller());
        self.openers.push(Opener { open: Some(Box::new(open)), is_done: false, name, place });
        self
    }
}

impl App {
    /// Opens the values of [`Router::state_at_start`] that are not open yet.
    ///
    /// Call it if you handle requests without the server of stockade, for example by
    /// [`handle`](Self::handle), in AWS Lambda, or in another router. Until then, a handler
    /// that takes such a value responds with 500. Clones of an application start together,
    /// and further calls do nothing.
    ///
    /// # Errors
    /// The first error of a function that opens a value. A function runs only once, so the
    /// calls after an error fail too; build the application again for another attempt.
    pub async fn start(&self) -> Result<(), BoxError> {
        match &self.resolved.routes.openers {
            Some(openers) => openers.run(self).await,
            None => Ok(()),
        }
    }
}
