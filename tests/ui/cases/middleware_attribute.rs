//! Mistakes in `#[middleware]`.

use stockade::prelude::*;

#[stockade::middleware(may_respond(200, "fine"), may_respond(404, "a"), may_respond(404, "b"))]
fn statuses(_: &mut Request) {}

#[stockade::middleware(responds(404, "a"))]
fn unknown(_: &mut Request) {}

#[stockade::middleware]
fn not_middleware(_: String) {}

#[stockade::middleware]
struct NotAFunction;

fn main() {
    let _ = routes! { middleware: [statuses, unknown], GET: async || "x" };
}
