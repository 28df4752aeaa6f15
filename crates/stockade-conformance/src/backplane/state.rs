//! Checks the members of a room and its last messages, as seen by all
//! processes.

use stockade_errors::ApiError;
use stockade_websockets::{Backplane, SocketId};

use super::Check;
use super::process::{Client, Process};
use crate::fail::{fail, or_fail};
use crate::{equal, succeeds, until};

impl<B: Backplane, M: Fn() -> B> Check<M> {
    pub(super) async fn members_of_all_processes_are_known(&self) {
        let room = self.room("members");
        let [here, there, empty] = self.processes();
        sees(&here, &room, &[]).await;
        let first = here.join(&room).await;
        let second = there.join(&room).await;
        let third = there.join(&room).await;
        let _elsewhere = there.join(&self.room("elsewhere")).await;
        for process in [&here, &there, &empty] {
            sees(process, &room, &[&first, &second, &third]).await;
        }
        third.member.leave(&room);
        sees(&here, &room, &[&first, &second]).await;
        or_fail(third.member.join(&room));
        sees(&empty, &room, &[&first, &second, &third]).await;
        drop(second);
        sees(&here, &room, &[&first, &third]).await;
        // The members of a process leave when it ends.
        drop((third, _elsewhere, there));
        sees(&empty, &room, &[&first]).await;
    }

    pub(super) async fn history_continues_from_any_message(&self) {
        let room = self.room("history");
        let [mut here, there] = self.processes();
        here.rooms = here.rooms.with_ids(|id, text| format!("{id} {text}"));
        let client = here.join(&room).await;
        let sent: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        for text in &sent {
            there.broadcast(&room, text);
        }
        let last = sent.last().map_or("", String::as_str);
        let arrived = async || {
            let texts = client.texts();
            texts.iter().any(|text| text == last || text.ends_with(&format!(" {last}")))
        };
        if !until(arrived).await {
            fail("a message must arrive, with or without its id");
        }

        let promise = "the history contains the last messages, oldest first";
        let kept = succeeds(promise, here.rooms.since(&room, "").await);
        let is_complete = "a history from an unknown id is not reported as complete";
        equal(is_complete, &kept.is_complete, &false);
        let texts: Vec<&String> = kept.messages.iter().map(|it| &it.text).collect();
        let skipped = sent.len().saturating_sub(texts.len());
        equal(promise, &texts, &sent.iter().skip(skipped).collect());
        let Some(newest) = kept.messages.last() else { return };

        for (index, message) in kept.messages.iter().enumerate() {
            for process in [&here, &there] {
                let promise = "the history from a message contains all later messages";
                let since = succeeds(promise, process.rooms.since(&room, &message.id).await);
                equal(promise, &since.messages, &kept.messages[index + 1..].to_vec());
                equal("a history without a gap is complete", &since.is_complete, &true);
            }
        }
        let with_id = format!("{} {}", newest.id, newest.text);
        let is_there = client.texts().contains(&with_id);
        equal("a message arrives with its id in the history", &is_there, &true);
        for wrong in ["0-0", "-", "x", "other-7", "\r\n", "99999999999999999999"] {
            let since = succeeds(is_complete, here.rooms.since(&room, wrong).await);
            equal(is_complete, &since.is_complete, &false);
        }
        let nobody = succeeds(is_complete, here.rooms.since(&self.room("nobody"), "x-1").await);
        equal("a room without messages has an empty history", &nobody.messages, &Vec::new());
    }
}

/// Waits until a process sees exactly these members.
async fn sees(process: &Process, room: &str, clients: &[&Client]) {
    let expected: Vec<SocketId> = clients.iter().map(|client| client.socket.id()).collect();
    let found = async || {
        let members = process.rooms.members_everywhere(room).await?.members;
        Ok::<_, ApiError>((members, process.rooms.count_everywhere(room).await?))
    };
    // A backplane may not be connected to the backend yet.
    let holds = async || {
        found().await.is_ok_and(|(members, count)| {
            let are_there = expected.iter().all(|id| members.contains(id));
            are_there && members.len() == expected.len() && count == expected.len()
        })
    };
    if !until(holds).await {
        let promise = "the members of all processes are known";
        let (members, count) = succeeds(promise, found().await);
        fail(format!("{promise}: expected {expected:?}, found {members:?}, counted as {count}"));
    }
}
