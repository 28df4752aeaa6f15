//! Checks the routes of the main example against its lock file.

use stockade::testing::assert_routes_lock;

use crate::shop::router;

#[test]
fn the_routes_of_the_shop_match_the_lock() {
    assert_routes_lock(router(), "../examples/shop/routes.lock");
}
