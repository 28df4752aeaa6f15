//! Checks that each message arrives once and in order, and reaches only its
//! audience.

use stockade_websockets::{Audience, Backplane, Order};

use super::Check;
use super::process::{Client, Process, once};
use crate::fail::fail;
use crate::{equal, until};

/// Room names that a backend might interpret as syntax.
const ROOMS: &[&str] = &[
    "",
    "{a} b",
    "{a}",
    "{b}",
    "b",
    "a:b",
    ":",
    "*",
    "?",
    "[a]",
    "\r\n",
    " ",
    "\0",
    "%",
    "/",
    "é",
    "e\u{301}",
    "\u{1f375}",
    "'; DROP TABLE rooms; --",
];

const MESSAGES: usize = 200;

impl<B: Backplane, M: Fn() -> B> Check<M> {
    pub(super) async fn every_broadcast_arrives_once_and_in_order(&self) {
        let promise = "each member gets each message once";
        let room = self.room("order");
        let processes: [Process; 3] = self.processes();
        let mut clients = Vec::new();
        for process in &processes {
            for _ in 0..2 {
                clients.push(process.join(&room).await);
            }
        }
        for number in 0..MESSAGES {
            for (sender, process) in processes.iter().enumerate() {
                let reached = process.broadcast(&room, format!("{sender} {number}"));
                equal("a broadcast returns the members of its process", &reached, &2);
            }
            if number % 10 == 0 {
                tokio::task::yield_now().await;
            }
        }
        let mut received = Vec::new();
        for client in &clients {
            for sender in 0..processes.len() {
                client.gets(promise, &format!("{sender} {}", MESSAGES - 1)).await;
            }
            received.push(client.texts());
        }
        for texts in &received {
            equal(promise, &once(promise, texts).len(), &(processes.len() * MESSAGES));
            for sender in 0..processes.len() {
                in_order(texts, sender);
            }
            if self.order == Order::Room && *texts != received[0] {
                fail("with Order::Room, all members must get all messages in the same order");
            }
        }
        for process in &processes {
            equal("no gap is reported if nothing is missing", &process.gaps(), &Vec::new());
        }
    }

    pub(super) async fn many_members_are_reached(&self) {
        let promise = "each of many members gets each message once";
        let room = self.room("many");
        let [here, there] = self.processes();
        let mut clients = Vec::new();
        for process in [&here, &there] {
            for _ in 0..50 {
                clients.push(process.join(&room).await);
            }
        }
        for text in ["1", "2", "3"] {
            equal(
                "a broadcast returns the members of its process",
                &here.broadcast(&room, text),
                &50,
            );
        }
        for client in &clients {
            client.gets(promise, "3").await;
            equal(promise, &client.texts(), &["1", "2", "3"].map(str::to_owned).to_vec());
        }
    }

    pub(super) async fn messages_reach_only_their_room_unchanged(&self) {
        let promise = "a message reaches only the room with its name, unchanged";
        let [here, there] = self.processes();
        let mut members: Vec<(String, Client)> = Vec::new();
        for name in ROOMS {
            let room = self.room(name);
            let client = there.join(&room).await;
            members.push((room, client));
        }
        let large = "x".repeat(10_000);
        for (index, (room, _)) in members.iter().enumerate() {
            for text in ["κόσμε\n{}\0\"", &large] {
                here.broadcast(room, format!("{index} {text}"));
            }
            here.broadcast(room, "end");
        }
        for (index, (_, client)) in members.iter().enumerate() {
            client.gets(promise, "end").await;
            let expected =
                [format!("{index} κόσμε\n{{}}\0\""), format!("{index} {large}"), "end".to_owned()];
            if client.texts() != expected {
                let texts: Vec<_> = client.texts().into_iter().map(|it| it.len()).collect();
                fail(format!(
                    "{promise}: {:?} got other messages, of lengths {texts:?}",
                    ROOMS[index]
                ));
            }
        }
    }

    pub(super) async fn one_member_is_excluded(&self) {
        let promise = "one member is excluded, in any process";
        let room = self.room("except");
        let [here, there] = self.processes();
        let clients = [here.join(&room).await, there.join(&room).await, there.join(&room).await];
        for (except, text) in clients.iter().zip(["0", "1", "2"]) {
            here.rooms.broadcast_except(Audience::Room(&room), text, except.socket.id());
        }
        here.broadcast(&room, "end");
        for (client, expected) in clients.iter().zip([["1", "2"], ["0", "2"], ["0", "1"]]) {
            client.gets(promise, "end").await;
            let mut texts = client.texts();
            texts.retain(|text| text != "end");
            equal(promise, &texts, &expected.map(str::to_owned).to_vec());
        }
    }

    pub(super) async fn all_audiences_are_reached(&self) {
        let [here, there] = self.processes();
        let clients = [here.join(&self.room("a")).await, there.join(&self.room("b")).await];
        let route = format!("/{}", self.name);
        for (audience, promise) in [
            (Audience::All, "a message to all reaches the members of all processes once"),
            (Audience::Route(&route), "a message to a route reaches its members everywhere once"),
        ] {
            // A check cannot wait until such an audience is subscribed, so the
            // first messages may be lost.
            let heard = until(async || {
                here.rooms.broadcast(audience, format!("{promise} first"));
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                clients.iter().all(|client| client.has(&format!("{promise} first")))
            });
            if !heard.await {
                fail(format!("{promise}: none arrived"));
            }
            for text in ["1", "2", "3", "end"] {
                here.rooms.broadcast(audience, format!("{promise} {text}"));
            }
            for client in &clients {
                client.gets(promise, &format!("{promise} end")).await;
                let mut texts = client.texts();
                texts.retain(|text| text.starts_with(promise) && !text.ends_with("first"));
                let expected = ["1", "2", "3", "end"].map(|text| format!("{promise} {text}"));
                equal(promise, &texts, &expected.to_vec());
            }
        }
    }

    pub(super) async fn a_new_member_gets_messages_of_its_process(&self) {
        let process = self.process();
        for number in 0..20 {
            let room = self.room(&format!("new {number}"));
            let client = process.enter(&room);
            equal("a broadcast returns the new member", &process.broadcast(&room, "hello"), &1);
            client.gets("a new member gets messages of its own process", "hello").await;
        }
    }

    pub(super) async fn members_that_left_get_no_messages(&self) {
        let promise = "a member that left a room gets no messages of it";
        let (left, kept) = (self.room("left"), self.room("kept"));
        let [here, there] = self.processes();
        let (client, other) = (there.join(&left).await, there.join(&left).await);
        crate::fail::or_fail(client.member.join(&kept));
        client.is_ready(&kept).await;
        client.member.leave(&left);
        here.broadcast(&left, "left");
        other.gets("a member that stays gets further messages", "left").await;
        here.broadcast(&kept, "kept");
        client.gets("a member that leaves one room gets messages of its other room", "kept").await;
        equal(promise, &client.texts(), &vec!["kept".to_owned()]);
    }

    pub(super) async fn members_that_rejoin_get_messages(&self) {
        let promise = "a member that joins a room again gets its messages from then on";
        let room = self.room("again");
        let [here, there] = self.processes();
        let _other = here.join(&room).await;
        for round in 0..20 {
            for _ in 0..round % 4 {
                drop(there.enter(&room));
                tokio::task::yield_now().await;
            }
            let client = there.join(&room).await;
            here.broadcast(&room, round.to_string());
            client.gets(promise, &round.to_string()).await;
            equal(promise, &client.texts(), &vec![round.to_string()]);
        }
        equal("no gap is reported if nothing is missing", &there.gaps(), &Vec::new());
    }
}

/// Fails if the messages of a sender did not arrive in order.
pub(super) fn in_order(texts: &[String], sender: usize) {
    let begin = format!("{sender} ");
    let numbers = texts.iter().filter_map(|text| text.strip_prefix(&begin)?.parse::<usize>().ok());
    if !numbers.is_sorted() {
        fail(format!(
            "the messages of a process must arrive in order: the messages of {sender} did not"
        ));
    }
}
