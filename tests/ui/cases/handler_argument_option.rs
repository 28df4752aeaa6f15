//! Arguments that cannot be absent.

use stockade::prelude::*;

async fn show(_: Option<Path<u64>>) {}

fn main() {
    let _ = routes! { ":id": { GET: show } };
}
