//! WebSockets and events that reach another tenant.

use std::convert::Infallible;
use std::sync::Mutex;

use futures_util::StreamExt as _;
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use stockade::testing::{AttackFamily, HardeningReport};
use stockade::websockets::{Audience, Rooms, TypedWebSocket};
use tokio::sync::broadcast;

use crate::block_on;
use crate::tenants::{Member, failures, harden, secret};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    /// All tenants share one room.
    Room,
    /// A message subscribes to each channel that exists.
    Join,
    /// The events of all tenants.
    Events,
}

#[derive(Clone)]
struct Posted {
    tenant: String,
    text: String,
}

struct Board {
    fault: Option<Fault>,
    /// The tenant of each channel.
    channels: Mutex<Vec<String>>,
    posts: broadcast::Sender<Posted>,
}

#[derive(serde::Deserialize, Schema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Command {
    Join {
        channel_id: usize,
    },
    Say {
        #[schema(max_length = 100)]
        text: String,
    },
}

#[derive(serde::Serialize, Schema)]
struct Said {
    text: String,
}

#[derive(serde::Deserialize, Schema)]
struct NewPost {
    #[schema(max_length = 100)]
    text: String,
}

async fn create_channel(board: State<Board>, User(me): User<Member>) -> Value {
    let mut channels = board.channels.lock().unwrap();
    channels.push(me.tenant);
    json!({ "id": channels.len() - 1 })
}

async fn talk(
    mut socket: TypedWebSocket<Command, Said>,
    rooms: State<Rooms>,
    board: State<Board>,
    User(me): User<Member>,
) -> Result<(), ApiError> {
    let member = rooms.enter(socket.untyped())?;
    let hall = match board.fault {
        Some(Fault::Room) => "hall".to_owned(),
        _ => format!("hall of {}", me.tenant),
    };
    member.join(&hall)?;
    let mut joined = hall;
    while let Some(command) = socket.recv().await {
        match command? {
            Command::Join { channel_id } => {
                let owner = board.channels.lock().unwrap().get(channel_id).cloned();
                let is_own = owner.as_ref() == Some(&me.tenant);
                if is_own || (board.fault == Some(Fault::Join) && owner.is_some()) {
                    joined = format!("channel {channel_id}");
                    member.join(&joined)?;
                } else {
                    socket.send(&Said { text: "unknown channel".to_owned() }).await?;
                }
            }
            Command::Say { text } => {
                let text = json!({ "text": text }).to_string();
                rooms.broadcast(Audience::Room(&joined), text);
            }
        }
    }
    Ok(())
}

async fn post(board: State<Board>, User(me): User<Member>, Body(new): Body<NewPost>) -> Value {
    // Nobody may be listening.
    let _ = board.posts.send(Posted { tenant: me.tenant, text: new.text });
    json!({ "id": 1 })
}

async fn events(board: State<Board>, User(me): User<Member>) -> Sse {
    let is_any = board.fault == Some(Fault::Events);
    let stream = futures_util::stream::unfold(board.posts.subscribe(), async |mut posts| {
        let posted = posts.recv().await.ok()?;
        Some((posted, posts))
    });
    let own = stream.filter(move |posted| std::future::ready(is_any || posted.tenant == me.tenant));
    Sse::new(own.map(|posted| Ok::<_, Infallible>(Event::data(posted.text))))
}

fn report(fault: Option<Fault>) -> HardeningReport {
    let api = routes! {
        auth: Auth::secret(secret()),
        "channels": { POST: create_channel },
        "posts": { POST: post },
        "talk": { WS: talk },
        "events": { GET: events },
    };
    let options = RouterOptions::new().enable_web_sockets(true);
    let board = Board { fault, channels: Mutex::default(), posts: broadcast::channel(100).0 };
    let router = create_router(api, options).state(board).state(Rooms::default());
    block_on(harden(router).run())
}

#[test]
fn finds_messages_of_other_tenants() {
    #[track_caller]
    fn check(fault: Fault, route: &str, attack: &str) {
        let report = report(Some(fault));
        let all = failures(&report);
        let failure = all.iter().find(|it| it.attack.contains(attack));
        let failure = failure.unwrap_or_else(|| panic!("{fault:?} is not found\n{report}"));
        assert_eq!(failure.route.as_deref(), Some(route), "{report}");
        assert!(failure.found.starts_with("the connection receives data of the first user"));
        assert!(all.iter().all(|it| it.route.as_deref() == Some(route)), "{fault:?}\n{report}");
        let location = failure.location.as_ref().unwrap();
        assert!(location.file.ends_with("guards/tenant_connections.rs"), "{report}");
    }
    check(Fault::Room, "WS /talk", "messages of the other user");
    check(Fault::Join, "WS /talk", "message member `channelId` with an id of the other user");
    check(Fault::Events, "GET /events", "messages of the other user");
}

#[test]
fn reports_nothing_if_tenants_are_separate() {
    let report = report(None);
    report.assert();
    let count = report.count(AttackFamily::Tenants);
    assert!(count.passed >= 3, "{report}");
    assert_eq!(count.not_attacked, 0, "{report}");
}

#[test]
fn finds_a_shared_rate_limit() {
    use stockade::middleware::with_rate_limit;
    let report = |limit: RateLimit| {
        let api = routes! {
            auth: Auth::secret(secret()),
            middleware: [with_rate_limit(limit)],
            "posts": { GET: async |User(me): User<Member>| json!([{ "id": me.tenant }]) },
        };
        block_on(harden(create_router(api, RouterOptions::new())).run())
    };
    let limit = || RateLimit::new().max_requests(20);
    report(limit()).assert();
    let shared = report(limit().key_generator(|_| Ok("everybody".to_owned())));
    let all = failures(&shared);
    let failure = all.iter().find(|it| it.attack.contains("after requests of the other user"));
    assert!(failure.unwrap().found.contains("a 429 for the second user"), "{shared}");
}
