//! The rules about retried requests.

use super::super::finding::Finding;
use super::super::rule::BuiltIn;
use super::each;
use crate::Need;

pub(super) const KEYS_HOLD: BuiltIn = BuiltIn {
    id: "keys-hold",
    text: "each route that requires an idempotency key runs only with its protection",
    owasp: "API6",
    find: |map| {
        each(map, |route| {
            let keys = route.idempotency.as_ref()?;
            (keys.required && keys.passes_outage).then(|| {
                let message = "it requires an idempotency key, but a retry runs twice while the \
                               key store is down";
                Finding::on(route, message)
                    .mend("remove `on_store_error(OnStoreError::Pass)`, or do not require keys")
            })
        })
    },
};

pub(super) const KEYS_TOLD_APART: BuiltIn = BuiltIn {
    id: "keys-told-apart",
    text: "different clients never share an idempotency key",
    owasp: "API1",
    find: |map| {
        each(map, |route| {
            let keys = route.idempotency.as_ref()?;
            let is_of_address = !keys.own_scope && route.access.user != Need::Required;
            is_of_address.then(|| {
                let message = "clients behind one address, such as a company's, share \
                               idempotency keys: a client that reuses a key gets another \
                               client's response";
                Finding::on(route, message)
                    .mend("add `with_auth` before it, or set the owner of the keys with `scope_by`")
            })
        })
    },
};
