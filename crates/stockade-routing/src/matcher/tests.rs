//! Tests of the matcher with cases, a slow model and a real table of routes.

use std::collections::BTreeMap;

use stockade_path::Pattern;

use super::table::VISITS;
use super::{InsertError, Table, TableBuilder};

/// Builds the table of these patterns, with indices as values. Skips equivalent
/// patterns.
pub(super) fn table(paths: &[&str]) -> (Table<usize>, Vec<Pattern>) {
    let mut builder = TableBuilder::new();
    let mut patterns = Vec::new();
    for path in paths {
        let pattern = Pattern::parse(path).unwrap();
        if builder.insert(&pattern, patterns.len()).is_ok() {
            patterns.push(pattern);
        }
    }
    (builder.build(), patterns)
}

/// Returns the pattern and its captures, as `pattern name=value name=value`.
fn show(paths: &[&str], path: &str) -> String {
    let (table, patterns) = table(paths);
    match find(&table, path) {
        Some((index, captured)) => {
            let captured: String =
                captured.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            format!("{}{captured}", patterns[index])
        }
        None => "-".to_owned(),
    }
}

/// Returns the index of the pattern and its captures by name, in the form of
/// the model.
pub(super) fn find(table: &Table<usize>, path: &str) -> Option<(usize, Vec<(String, String)>)> {
    let found = table.find(path)?;
    assert_eq!(found.names.len(), found.spans.len());
    let text = |(start, end)| path[usize::from(start)..usize::from(end)].to_owned();
    let texts = found.spans.iter().map(text);
    Some((*found.value, found.names.iter().map(|name| name.to_string()).zip(texts).collect()))
}

/// Checks the captures of one pattern; `-` means that it does not match.
#[track_caller]
fn check(pattern: &str, path: &str, expected: &str) {
    let shown = show(&[pattern], path);
    let captured = shown.strip_prefix(pattern).unwrap_or(&shown).trim_start();
    assert_eq!(captured, expected, "{pattern:?} {path:?}");
}

/// Checks several patterns, separated by spaces, in both orders.
#[track_caller]
fn check_best(patterns: &str, path: &str, expected: &str) {
    let mut patterns: Vec<_> = patterns.split(' ').collect();
    assert_eq!(show(&patterns, path), expected, "{patterns:?} {path:?}");
    patterns.reverse();
    assert_eq!(show(&patterns, path), expected, "{patterns:?} {path:?}");
}

#[test]
fn text_matches_itself_character_for_character() {
    check("/", "/", "");
    check("/a.b+$(c)", "/a.b+$(c)", "");
    check("/a.b", "/axb", "-");
    check("/a", "/A", "-");
    check("/a", "/%61", "-");
    check("/a", "/a/", "-");
    check("/a", "//a", "-");
    check("/a", "", "-");
    check("/a", "a", "-");
    check("/a/", "/a", "-");
    check("/a/../b", "/b", "-");
    check("/a//b", "/a//b", "");
    check("/a//:x", "/a//b", "x=b");
    check("/a//:x", "/a/b", "-");
    check("/%20/caf\u{e9}/:x", "/%20/caf%C3%A9/\u{e9}", "x=\u{e9}");
}

#[test]
fn a_parameter_matches_one_or_more_characters() {
    check("/u/:id", "/u/5", "id=5");
    check("/u/:id", "/u/", "-");
    check("/u/:id", "/u", "-");
    check("/u/:id", "/u/5/", "-");
    check("/u/:id", "/u/a%2Fb", "id=a%2Fb");
    check("/:user-id", "/x-id", "user=x");
    check("/:user-id", "/-id", "-");
    check("/:a/:b/:c", "/1/2/3", "a=1 b=2 c=3");
}

#[test]
fn several_parameters_in_a_segment_are_greedy_from_the_left() {
    check("/:from-:to", "/a-b", "from=a to=b");
    check("/:from-:to", "/a-b-c", "from=a-b to=c");
    check("/:from-:to", "/a-b-", "from=a to=b-");
    check("/:from-:to", "/--b", "from=- to=b");
    check("/:from-:to", "/---", "from=- to=-");
    check("/:from-:to", "/--", "-");
    check("/:from-:to", "/a-", "-");
    check("/:from-:to", "/-b", "-");
    check("/:file.:ext", "/a.tar.gz", "file=a.tar ext=gz");
    check("/v:major.:minor", "/v1.2", "major=1 minor=2");
    check("/v:major.:minor", "/1.2", "-");
    check("/:a--:b--:c!", "/1---2--3!", "a=1- b=2 c=3");
    check("/:a--:b--:c!", "/1---2-3!", "-");
    check("/a-:x", "/a-", "-");
    check("/-:x-", "/-", "-");
    check("/-:x-", "/--", "-");
    check("/-:x-", "/---", "x=-");
    let path = "/\u{e9}%E2%86%92%E2%86%92\u{e9}";
    check("/:a\u{2192}:b", path, "a=\u{e9}%E2%86%92 b=\u{e9}");
}

#[test]
fn an_expression_is_anchored_and_for_one_segment() {
    check(r"/:id(\d+)", "/42", "id=42");
    check(r"/:id(\d+)", "/42x", "-");
    check(r"/:id(\d+)", "/\u{664}", "-");
    check(r"/:id(\d+)/x", "/42/x", "id=42");
    check("/:a(.*)", "/a/b", "-");
    check("/:a(.*)", "/", "-");
    check("/:a(x/y)", "/x/y", "-");
    check("/:a(b|c)d", "/bd", "a=b");
    check("/:a(b|c)d", "/b", "-");
    check("/:file.:ext(json|csv)", "/a.b.csv", "file=a.b ext=csv");
    check("/:file.:ext(json|csv)", "/a.b", "-");
    check("/:a(a|ab)-:b((x)(y))", "/ab-xy", "a=ab b=xy");
    check(r"/:a(\d+?)-:b", "/1-2", "a=1 b=2");
    check("/:a(x*)-:b", "/-b", "-");
    check("/x:a(a*)", "/x", "-");
    check("/:a(a(?i)b)-:b(c)", "/aB-c", "a=aB b=c");
    check("/:a(a(?i)b)-:b(c)", "/aB-C", "-");
    check("/:a(.)", "/\u{e9}", "-");
}

#[test]
fn an_expression_cannot_cut_a_character() {
    // `é` is two bytes, and `\xC3` is the first of them.
    check(r"/:a(.)x-:b", "/\u{e9}x-1", "-");
    check(r"/:a(..)x-:b", "/\u{e9}x-1", "a=\u{e9} b=1");
    check(r"/:a(.+?)x-:b", "/\u{e9}x-1", "a=\u{e9} b=1");
}

#[test]
fn optional_parameters_may_be_absent() {
    check("/opt/:id?", "/opt", "");
    check("/opt/:id?", "/opt/5", "id=5");
    check("/opt/:id?", "/opt/", "-");
    check("/:a?", "/", "");
    check("/:a?", "/x", "a=x");
    check("/x:id?", "/x", "");
    check("/x:id?", "/x1", "id=1");
    check("/:a?/b", "/b", "");
    check("/:a?/b", "/a/b", "a=a");
    check("/:a?/b", "//b", "-");
    check("/:a?-:b?", "/-", "");
    check("/:a?-:b?", "/x-y", "a=x b=y");
    // Both variants have equal amounts of text, and `-:` sorts before `:-:`.
    check("/:a?-:b?", "/--y", "b=-y");
    check("/:a?-:b?", "/-y", "b=y");
    let search = r"/search/:query?/:page(\d+)?";
    check(search, "/search", "");
    check(search, "/search/cats", "query=cats");
    check(search, "/search/2", "query=2");
    check(search, "/search/cats/2", "query=cats page=2");
    check(search, "/search/cats/two", "-");
}

#[test]
fn wildcards_match_a_segment_or_the_rest() {
    check("/*", "/a", "splat=a");
    check("/*", "/", "-");
    check("/*/b", "/a/b", "splat=a");
    check("/*", "/a/b", "-");
    check("/d/**", "/d/", "splat=");
    check("/d/**", "/d", "-");
    check("/d/**", "/d/a/b/", "splat=a/b/");
    check("/d/**", "/d//", "splat=/");
    check("/**", "/", "splat=");
    check("/**", "/a//b", "splat=a//b");
    check("/:a/**", "/x", "-");
    check("/:a?/**", "/x", "splat=x");
    check("/:a?/**", "/x/", "a=x splat=");
}

#[test]
fn the_best_pattern_is_found_segment_by_segment() {
    let all = r"/u/me /u/:a(\w+) /u/:a-:b /u/:a /u/* /u/**";
    check_best(all, "/u/me", "/u/me");
    check_best(all, "/u/you", r"/u/:a(\w+) a=you");
    check_best(all, "/u/a-b", "/u/:a-:b a=a b=b");
    check_best(all, "/u/a.b", "/u/:a a=a.b");
    check_best(all, "/u/a/b", "/u/** splat=a/b");
    check_best("/u/* /u/**", "/u/a", "/u/* splat=a");
    // The first segment decides, regardless of the others.
    check_best("/a/** /:x/b/c", "/a/b/c", "/a/** splat=b/c");
    check_best("/a/:x /:x/b", "/a/b", "/a/:x x=b");
    // More text wins, then the alphabetical order.
    check_best("/-:x /-b-:x", "/-b-c", "/-b-:x x=c");
    check_best("/-:x /:x-b", "/-a-b", "/:x-b x=-a");
    check_best("/:x(a|b) /:x(a|c)", "/a", "/:x(a|b) x=a");
    check_best("/:x(a.*) /a:x(.*)", "/ab", "/a:x(.*) x=b");
}

#[test]
fn backtracks_from_dead_ends() {
    check_best("/a/b/c /a/:x/d /:x/b/e", "/a/b/d", "/a/:x/d x=b");
    check_best("/a/b/c /a/:x/d /:x/b/e", "/a/b/e", "/:x/b/e x=a");
    check_best("/a/b/c /a/:x/d /:x/b/e", "/a/b/f", "-");
    check_best("/:a/:b/x /:a-:b/y/z /**", "/1-2/y/x", "/:a/:b/x a=1-2 b=y");
    check_best("/:a/:b/x /:a-:b/y/z /**", "/1-2/y", "/** splat=1-2/y");
    check_best("/:a(a+)/x /:b/y", "/a/y", "/:b/y b=a");
}

#[test]
fn optional_parameters_cause_no_conflict() {
    check_best("/x /x/:a?", "/x", "/x");
    check_best("/x /x/:a?", "/x/1", "/x/:a? a=1");
    check_best("/x/:a /x/:b?", "/x/1", "/x/:a a=1");
    check_best("/x/:a /x/:b?", "/x", "/x/:b?");
    // The second begins better, but skips a parameter.
    check_best(r"/:a /:q(\d)?/:z", "/x", "/:a a=x");
    // Both skip one parameter, so the better whole pattern wins.
    check_best(r"/x/:a? /x/:b(\d)?", "/x", r"/x/:b(\d)?");
    check_best("/:a?/x /x/:a?", "/x", "/x/:a?");
}

#[test]
fn rejects_equivalent_patterns() {
    let mut builder = TableBuilder::new();
    let mut insert = |path| builder.insert(&Pattern::parse(path).unwrap(), ());
    assert_eq!(insert("/a"), Ok(0));
    assert_eq!(insert("/u/:id"), Ok(1));
    let duplicate = InsertError::Duplicate { pattern: "/u/:name".to_owned(), earlier: 1 };
    assert_eq!(insert("/u/:name"), Err(duplicate));
    let error = insert(r"/:a(\w{1000}{1000})").unwrap_err();
    assert!(matches!(error, InsertError::Constraint { .. }), "{error}");
    assert_eq!(insert("/u/:id/"), Ok(2));
}

#[test]
fn paths_beyond_16_bits_never_match() {
    let (table, _) = table(&["/**"]);
    assert!(table.find(&format!("/{}", "x".repeat(65_534))).is_some());
    assert!(table.find(&format!("/{}", "x".repeat(65_535))).is_none());
}

#[test]
fn finds_more_parameters_than_fit_inline() {
    let pattern: String = ('a'..='l').map(|name| format!("/:{name}")).collect();
    let expected: Vec<_> = ('a'..='l').map(|name| format!("{name}={name}")).collect();
    check(&pattern, "/a/b/c/d/e/f/g/h/i/j/k/l", &expected.join(" "));
}

#[test]
fn each_github_route_is_found_with_its_parameters() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/routes/github-routes.txt");
    let routes = std::fs::read_to_string(file).unwrap();
    let mut methods: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (method, path) in routes.lines().filter_map(|line| line.split_once(' ')) {
        methods.entry(method).or_default().push(path);
    }
    let mut count = 0;
    for paths in methods.values() {
        let (table, patterns) = table(paths);
        assert_eq!(patterns.len(), paths.len());
        for (index, pattern) in patterns.iter().enumerate() {
            let mut path = pattern.to_string();
            let mut expected = Vec::new();
            for (number, (name, _)) in pattern.params().enumerate() {
                let value = format!("value{number}");
                path = path.replacen(&format!(":{name}"), &value, 1);
                expected.push((name.to_owned(), value));
            }
            assert_eq!(find(&table, &path), Some((index, expected)), "{path}");
            count += 1;
        }
    }
    assert_eq!(count, 514);
}

#[test]
fn a_lookup_is_linear_in_the_path() {
    let optional: String = ('a'..='h').map(|name| format!("/:{name}?")).collect();
    let patterns = [
        optional.as_str(),
        &format!("{optional}/x"),
        &format!("/x{optional}/y/**"),
        "/:a-:b-:c/:d-:e/:f(a+)-:g(a+b)/*/z",
        "/:a(a*)a:b(a*)b/:c/:d/:e/:f/y",
        "/*/:a/:b/:c/:d/:e/:f/:g/y",
        "/a/a/a/a/a/a/a/a/a/a",
    ];
    let (table, _) = table(&patterns);
    let visits = |path: &str| {
        VISITS.set((0, 0));
        assert!(table.find(path).is_none());
        VISITS.get()
    };
    for segment in ["a", "a-", "aab"] {
        for segments in [1, 9, 99] {
            let path = |length: usize| {
                format!("/{}", vec![segment.repeat(length); segments].join("/")) + "/"
            };
            let (nodes, bytes) = visits(&path(10));
            let long = 60_000 / segments / segment.len();
            let (nodes_long, bytes_long) = visits(&path(long));
            assert!(nodes <= table.nodes.len(), "{nodes} visits");
            // The length of segments only changes the number of examined bytes.
            assert_eq!(
                (nodes, bytes / 10),
                (nodes_long, bytes_long / long),
                "{segment} {segments}"
            );
        }
    }
}
