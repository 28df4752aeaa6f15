use stockade::middleware::RateLimit;
use stockade::prelude::*;

fn main() {
    // The key is used after the function has returned.
    let _ = RateLimit::by(|req| (req.path(), 10 / MINUTE));
}
