//! Methods of the whole router consume it; a group only borrows it.

use stockade::policy::Policy;
use stockade::prelude::*;

fn main() {
    let mut router = create_router(routes! {}, RouterOptions::new());
    router.group("/admin", (), |group| {
        group.policy(Policy::recommended());
    });
    router.group("/admin", (), |group| {
        group.state(7_u8);
    });
    router.group("/admin", (), |group| {
        group.open_api(("Admin", "1.0.0"));
    });
    router.group("/admin", (), |group| {
        group.map_options(|options| options.prefix("/api"));
    });
    let _ = router.build();
}
