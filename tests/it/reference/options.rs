//! The keys of configuration files, and the defaults of a server.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use stockade::prelude::*;
use stockade::server::ServerOptions;

use super::{codes, rows};

const PAGE: &str = include_str!("../../../book/src/reference/options.md");

#[test]
fn a_file_has_the_keys_of_the_page() {
    let check = |heading: &str, column: usize, known: BTreeSet<String>| {
        let section = rows(PAGE, heading);
        let keys = section.iter().filter(|row| row.len() > 2).filter_map(|row| row.get(column));
        let keys: BTreeSet<&str> = keys.flat_map(|cell| codes(cell)).collect();
        let keys: BTreeSet<String> = keys.into_iter().map(str::to_owned).collect();
        assert_eq!(keys, known, "{heading}");
    };
    check("## RouterOptions", 3, keys_in_camel_case::<RouterOptions>());
    check("## ServerOptions", 2, keys_in_camel_case::<ServerOptions>());
}

/// Returns the keys that a file may contain, without their snake case.
fn keys_in_camel_case<T: DeserializeOwned>() -> BTreeSet<String> {
    let Err(error) = serde_json::from_str::<T>(r#"{"no such key": 1}"#) else {
        panic!("accepted an unknown key");
    };
    let error = error.to_string();
    let (_, expected) = error.split_once("expected one of ").unwrap();
    codes(expected).filter(|key| !key.contains('_')).map(str::to_owned).collect()
}

/// `Debug` shows the value of each option.
#[test]
fn a_server_has_the_defaults_of_the_page() {
    let shown = format!("{:?}", ServerOptions::new());
    for row in rows(PAGE, "## ServerOptions") {
        let name = codes(row[0]).next().unwrap();
        // The tests enable the features that some defaults need.
        let default = row[1].split(" with the feature ").next().unwrap();
        let value = match default {
            "the router's values" | "`HostOptions::new()`" => continue,
            "a tenth, at least 100" | "set by the system" | "the router's value" => "None".into(),
            "off" => "Senders".into(),
            "0" => "0ns".into(),
            value => value.replace(',', "").replace(" bytes", "").replace(" s", "s"),
        };
        let found = [format!("{name}: {value}"), format!("{name}: Some({value})")];
        assert!(found.iter().any(|text| shown.contains(text)), "{found:?}\n{shown}");
    }
}
