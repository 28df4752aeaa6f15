//! The rules about retried requests.

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::each;
use crate::Need;

pub(super) const KEYS_HOLD: BuiltIn = BuiltIn {
    id: "keys-hold",
    text: "a route that demands an idempotency key runs nothing without its protection",
    owasp: "API6",
    find: |map| {
        each(map, |route| {
            let keys = route.idempotency.as_ref()?;
            (keys.required && keys.passes_outage).then(|| {
                let message = "it demands an idempotency key, and a retry runs twice while the \
                               store of the keys is down";
                Finding::on(route, message)
                    .mend("remove `on_store_error(OnStoreError::Pass)`, or do not demand keys")
            })
        })
    },
};

pub(super) const KEYS_TOLD_APART: BuiltIn = BuiltIn {
    id: "keys-told-apart",
    text: "the idempotency keys of different clients are told apart, whatever they choose",
    owasp: "API1",
    find: |map| {
        each(map, |route| {
            let keys = route.idempotency.as_ref()?;
            let is_of_address = !keys.own_scope && route.access.user != Need::Required;
            is_of_address.then(|| {
                let message = "clients behind one address, such as that of a company, share \
                               their idempotency keys: one that uses the key of another gets \
                               its answer";
                Finding::on(route, message)
                    .mend("put `with_auth` in front, or tell whose keys they are by `scope_by`")
            })
        })
    },
};
