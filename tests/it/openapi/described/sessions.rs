//! Rows for sessions and their cookies.

use std::time::Duration;

use stockade::auth::KeyRing;
use stockade::middleware::SessionCookie;
use stockade::middleware::sessions::{
    MemorySessionStore, NewSession, Session, SessionKey, SessionStore, SessionWrite, Sessions,
    StoredSession, SubjectKey,
};
use stockade::prelude::*;
use stockade::{BoxFuture, StoreError};

use super::impls::{Case, case};
use super::{row, with_state};
use crate::support::block_on;

/// A store that is unavailable.
struct Down;

type Asked<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

fn down<'a, T: 'a>() -> Asked<'a, T> {
    Box::pin(async { Err(StoreError::unavailable("connection reset")) })
}

impl SessionStore for Down {
    fn create<'a>(&'a self, _: &'a SessionKey, _: NewSession<'a>) -> Asked<'a, SessionWrite> {
        down()
    }

    fn load<'a>(&'a self, _: &'a SessionKey) -> Asked<'a, Option<StoredSession>> {
        down()
    }

    fn update<'a>(
        &'a self,
        _: &'a SessionKey,
        _: u64,
        _: Bytes,
        _: Duration,
    ) -> Asked<'a, SessionWrite> {
        down()
    }

    fn touch<'a>(&'a self, _: &'a SessionKey, _: Duration) -> Asked<'a, bool> {
        down()
    }

    fn destroy<'a>(&'a self, _: &'a SessionKey) -> Asked<'a, bool> {
        down()
    }

    fn destroy_all<'a>(&'a self, _: &'a SubjectKey) -> Asked<'a, u64> {
        down()
    }
}

pub(super) fn cases() -> Vec<Case> {
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let cookie = SessionCookie::new(KeyRing::new(secret));
    let sessions = Sessions::<u8>::new(MemorySessionStore::new(), cookie.clone());
    let id = block_on(sessions.begin(None, &7)).unwrap().id().unwrap();
    let set = cookie.issue(&id).to_str().unwrap().to_owned();
    let pair = set.split_once(';').unwrap().0;
    let known = || with_state(sessions.clone());
    let lost = || with_state(Sessions::<u8>::new(Down, cookie.clone()));
    let one = async |_: Session<u8>| "x";
    let maybe = async |_: Option<Session<u8>>| "x";
    let get = format!("GET /x/7\ncookie: {pair}");
    let post = format!("POST /x/7\ncookie: {pair}");
    let cross_site = format!("{post}\nsec-fetch-site: cross-site");
    let (own, optional) = ("FromRequest for Session<T>", "OptionalFromRequest for Session<T>");
    let begin =
        async |sessions: State<Sessions<u8>>| (sessions.begin(None, &7).await.unwrap(), "x");
    vec![
        case(own, row!(known(), [], one, get.clone()), 200),
        case(own, row!(known(), [], one, post.clone()), 200),
        case(own, row!(known(), [], one, "GET /x/7"), 401),
        case(own, row!(known(), [], one, cross_site.clone()), 403),
        case(own, row!(lost(), [], one, get.clone()), 503),
        case(optional, row!(known(), [], maybe, get), 200),
        case(optional, row!(known(), [], maybe, "POST /x/7"), 200),
        case(optional, row!(known(), [], maybe, cross_site), 403),
        case(optional, row!(lost(), [], maybe, post), 503),
        case("ReplyPart for SetSession", row!(known(), [], begin, "POST /x/7"), 200),
    ]
}
