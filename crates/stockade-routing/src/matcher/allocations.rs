//! Test that a match does not allocate.

use stockade_path::Pattern;

use super::TableBuilder;

#[test]
fn a_match_allocates_nothing() {
    let mut table = TableBuilder::new();
    let patterns =
        ["/users", "/users/:id", "/flights/:from-:to", r"/n/:n(\d+)", "/:a?/x/:b?", "/f/**"];
    for pattern in patterns {
        table.insert(&Pattern::parse(pattern).unwrap(), ()).unwrap();
    }
    let table = table.build();
    let paths =
        ["/users", "/users/7", "/flights/OSL-LHR", "/n/12", "/y/x/z", "/f/a/b/c", "/n/none", "/no"];
    // Regular expressions fill their caches at the first use.
    let find = || paths.iter().filter(|path| table.find(path).is_some()).count();
    let found = find();
    assert_eq!(found, 6);
    let counted = allocation_counter::measure(|| assert_eq!(find(), found));
    assert_eq!(counted.count_total, 0);
}
