//! [`Router::state`] and [`Router::state_at_start`]: the values that an application provides to
//! its handlers.

use std::any::type_name;
use std::panic::Location;

use stockade_core::BoxFuture;
use stockade_errors::BoxError;

use crate::app::App;
use crate::router::Router;
use crate::start::Opener;

impl Router {
    /// Provides a value for `State<T>`, and replaces an earlier value of the
    /// same type. Default: none.
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

    /// Provides a value for `State<T>` that is opened when the application
    /// starts, such as a database pool. Default: none.
    ///
    /// [`App::start`] opens it. The server calls this before it binds its
    /// address. A `TestClient`, a `Contract`, `assert_hardened` and
    /// `check_schemas` call it before their first request.
    /// [Commands](App::run_command) do not call it, so `my-program routes`
    /// works without a database.
    ///
    /// Values are opened in the order of these calls. `open` receives the
    /// application; its [`state`](App::state) returns the values that are
    /// already open. An error stops the start. There is no time limit, so set
    /// one in `open`. Do not call [`App::start`] there: it would wait for
    /// itself.
    ///
    /// A host that runs the routes without an [`App`], such as axum or
    /// actix-web, does not start it. In such a host, this is a configuration
    /// error.
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
        self.openers.push(Opener::new(name, place, Box::new(open)));
        self
    }
}
