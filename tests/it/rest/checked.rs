//! Attacks on resource bodies, by a user who may change an item.

use stockade::rest::MemoryStore;
use stockade::testing::{AttackFamily, Credentials, Hardening, HardeningReport};

use super::suite::{Item, Size, router};
use crate::support::block_on;

/// A store with an item that ada may change, so that bodies are fully
/// validated.
fn store() -> MemoryStore<Item> {
    let store = MemoryStore::new();
    let item = Item {
        id: 1,
        name: "a".into(),
        price: 1,
        weight: 0.5,
        category: None,
        sold_out: false,
        size: Size::Small,
        tags: vec!["x".into()],
        owner: "ada".into(),
        secret: None,
    };
    store.insert([item]).unwrap();
    store
}

#[test]
fn bodies_of_every_write_withstand_attacks() {
    block_on(async {
        let attack = |known: bool| {
            let user = move |_: &[&str]| known.then(|| Credentials::bearer("ada"));
            Hardening::new(router(store())).anew(|| router(store())).users(user).allow_reads()
        };
        let report = attack(true).run().await;
        report.assert();
        let without = attack(false).run().await;
        let passed = |report: &HardeningReport| report.count(AttackFamily::Bodies).passed;
        assert!(passed(&report) > passed(&without), "{report}\n{without}");
    });
}
