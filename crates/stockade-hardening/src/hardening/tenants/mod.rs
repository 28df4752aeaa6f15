//! Objects of other tenants (OWASP API1): one user tries to reach the objects of
//! another user.
//!
//! - `crawl` creates and reads objects as each user. `world` contains their ids.
//! - `attacks` generates the requests of the second user, and `attempt` sends
//!   them and compares the responses with the responses for unknown ids.
//!   `connections` listens to WebSockets and events; `budgets` spends rate
//!   limits.
//! - `operation`, `graphql`, `tool_call` and `names` find the ids in routes and bodies;
//!   `request` creates requests; `compare` compares responses; `curl` prints requests.

mod attacks;
mod attempt;
mod budgets;
mod compare;
mod connections;
mod crawl;
mod curl;
mod graphql;
mod names;
mod operation;
mod request;
mod tool_call;
mod world;

use std::collections::BTreeMap;

pub(super) use self::world::{target_of, text_of};
use super::runner::{Rule, Runner};
use super::{AttackFamily, Hardening};
use crate::Credentials;

const RULE: Rule = Rule {
    family: AttackFamily::Tenants,
    text: "a user gets the response for an unknown id instead of an object of another tenant, \
           and cannot change the object (OWASP API1)",
    mend: "add the tenant of the user to the condition of the statement, and check ids in \
           bodies and queries with the same condition",
};

/// One of the two users.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Who {
    /// The owner of the objects.
    A,
    /// The user that must not reach them.
    B,
}

impl Who {
    /// Returns the beginning of all texts that this user sends.
    fn marker(self) -> &'static str {
        match self {
            Self::A => "canarya",
            Self::B => "canaryb",
        }
    }

    fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
        }
    }
}

/// The options of the attacks on objects of other tenants.
#[derive(Debug, Default)]
pub(super) struct TenantPlan {
    users: Option<(Credentials, Credentials)>,
    /// The values of parameters that name the tenant, for each user.
    values: BTreeMap<String, (String, String)>,
    /// The collections of members, by the name of the member.
    references: BTreeMap<String, String>,
    replay: Option<String>,
}

impl TenantPlan {
    /// Returns the first user.
    pub(super) fn first(&self) -> Option<&Credentials> {
        self.users.as_ref().map(|(first, _)| first)
    }

    pub(super) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }
}

/// Attacks on objects of other tenants.
impl Hardening {
    /// Enables the attacks on objects of other tenants, and sets two users that
    /// must not share any object.
    ///
    /// These attacks change data. The first user creates and reads objects with
    /// bodies that are generated from the schemas. The second user creates its
    /// own objects and then sends each id of the first user, with every method:
    /// in paths, in nested paths below its own objects, in queries, in bodies,
    /// in JSON-RPC parameters, in GraphQL arguments, in arguments of tools and in
    /// messages of WebSockets. It also sends the links and page positions of the first
    /// user, listens on its own connections while the first user sends
    /// messages, and reads after the first user has spent a rate limit.
    /// The response must be the response for an unknown id, and the first user
    /// must read the same data afterwards. The users need the roles that create
    /// objects.
    ///
    /// The probe learns ids from the members of responses, from `Location`, and
    /// from links. It compares members such as `projectId` with the path
    /// `/projects`. [`param`](Self::param) declares a parameter or a member that
    /// is not an id; [`refers_to`](Self::refers_to) declares a member that is.
    /// [`skip`](Self::skip) excludes a route from the attacks, also from the
    /// requests of the first user.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use stockade::prelude::*;
    /// use stockade::testing::{AttackFamily, Credentials, Hardening};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Member {
    ///     sub: String,
    /// }
    ///
    /// #[derive(serde::Deserialize, Schema)]
    /// struct NewNote {
    ///     #[schema(max_length = 100)]
    ///     text: String,
    /// }
    ///
    /// /// The owner and the text of each note.
    /// type Notes = Mutex<Vec<(String, String)>>;
    ///
    /// async fn create(notes: State<Notes>, User(me): User<Member>, Body(new): Body<NewNote>) -> Value {
    ///     let mut notes = notes.lock().unwrap();
    ///     notes.push((me.sub, new.text));
    ///     json!({ "id": notes.len() - 1 })
    /// }
    ///
    /// // The condition on the owner is missing.
    /// async fn show(notes: State<Notes>, Path(id): Path<usize>) -> Result<Value, ApiError> {
    ///     let notes = notes.lock().unwrap();
    ///     let (_, text) = notes.get(id).ok_or_else(ApiError::not_found)?;
    ///     Ok(json!({ "id": id, "text": text }))
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    /// let user = |name: &str| {
    ///     let token = stockade::auth::generate_jwt(json!({ "sub": name }), "1h", &secret);
    ///     Credentials::bearer(token.unwrap())
    /// };
    /// let users = (user("ada"), user("grace"));
    /// let api = routes! {
    ///     "notes": { auth: Auth::secret(secret), POST: create, ":id": { GET: show } },
    /// };
    /// let router = create_router(api, RouterOptions::new()).state(Notes::default());
    /// let report = Hardening::new(router).tenants(users.0, users.1).run().await;
    /// assert_eq!(report.count(AttackFamily::Tenants).failed, 1);
    /// assert_eq!(report.failures[0].route.as_deref(), Some("GET /notes/:id"));
    /// # });
    /// ```
    pub fn tenants(mut self, a: Credentials, b: Credentials) -> Self {
        self.tenants.users = Some((a, b));
        self
    }

    /// Sets the values of a path parameter that names the tenant, for both users
    /// of [`tenants`](Self::tenants). Only needed if no response contains them.
    pub fn tenant_param(
        mut self,
        name: impl Into<String>,
        a: impl Into<String>,
        b: impl Into<String>,
    ) -> Self {
        self.tenants.values.insert(name.into(), (a.into(), b.into()));
        self
    }

    /// Declares that a member of bodies and queries is an id of an object in a
    /// collection: `refers_to("assignee", "users")`. Names such as `userId` do
    /// not need it.
    pub fn refers_to(mut self, member: impl Into<String>, collection: impl AsRef<str>) -> Self {
        let noun = names::collection_noun(collection.as_ref());
        self.tenants.references.insert(member.into(), noun);
        self
    }

    /// Sends only the attack on objects of other tenants with this name, which
    /// a failure prints, after the requests that create the objects. No other
    /// family is sent.
    pub fn replay(mut self, attack: impl Into<String>) -> Self {
        self.tenants.replay = Some(attack.into());
        self
    }
}

/// Sends the requests of the second user.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let plan = &runner.plan().tenants;
    let Some((a, b)) = plan.users.clone() else {
        let reason = "no two users are known: set them with `Hardening::tenants`";
        return runner.leave(RULE.family, None, "objects of other tenants", reason);
    };
    crawl::Probe::new(runner, a, b).run().await;
}
