//! Calls the example `graphql_live` with third-party clients: graphql-ws and
//! graphql-sse (npm), and urql and GraphiQL in Chromium. Also calls the shop
//! with urql in Chromium.
//!
//! `tests/graphql/clients` contains the calls. Packages are installed below
//! `target/graphql-clients`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::browser::{CHROMIUM, is_installed};
use crate::docs_page::faults;
use crate::live_page::{PASSWORD, Page, Shop};
use crate::openapi::{address, copy, install_node};
use crate::{Outcome, announce, debian, examples, root, run as started, skip, target_directory};

pub fn run() -> Outcome {
    let program = examples::debug_program("graphql_live")?;
    examples::debug_program("shop")?;
    let target = target_directory()?;
    let folder = target.join("graphql-clients");
    copy(&root().join("tests/graphql/clients"), &folder)?;
    if !install_node(&folder) {
        skip("clients of GraphQL (Node 20 with npm, and its registry)");
        return Ok(());
    }
    let mut command = Command::new(program);
    command.env("PORT", "0").stdout(Stdio::piped()).stderr(Stdio::piped());
    announce(&command);
    let mut server = command.spawn().map_err(|error| format!("cannot start it: {error}"))?;
    let outcome = address(&mut server).and_then(|(url, _)| call(&target, &folder, &url));
    // The server must never be left running.
    let _ = server.kill();
    let _ = server.wait();
    outcome
}

fn call(target: &Path, folder: &Path, url: &str) -> Outcome {
    let mut node = Command::new("node");
    started(node.arg("clients.mjs").current_dir(folder).env("URL", format!("{url}/graphql")))?;
    if !is_installed() && !debian::install(&[CHROMIUM])? {
        skip("GraphiQL and urql in a browser (`chromium`, which root can install on Debian)");
        return Ok(());
    }
    let urql = bundle(folder, "browser")?;
    browse(folder, |profile| outcomes(profile, url, &urql))?;
    let urql = bundle(folder, "shop")?;
    browse(folder, |profile| shop_outcomes(target, profile, &urql))
}

/// Bundles a module and its packages into one script.
fn bundle(folder: &Path, name: &str) -> Result<String, String> {
    let script = format!("{name}.js");
    let mut esbuild = Command::new(folder.join("node_modules/.bin/esbuild"));
    esbuild.args([&format!("{name}.mjs"), "--bundle", "--format=iife"]);
    started(esbuild.arg(format!("--outfile={script}")).current_dir(folder))?;
    fs::read_to_string(folder.join(script)).map_err(|error| error.to_string())
}

/// Checks the outcomes of all situations in a separate browser.
fn browse(folder: &Path, look: impl FnOnce(&Path) -> Result<Vec<Row>, String>) -> Outcome {
    let profile = folder.join(format!("profile-{}", std::process::id()));
    let outcomes = look(&profile);
    // This fails if the browser still writes to the folder.
    let _ = fs::remove_dir_all(&profile);
    let mut wrong = Vec::new();
    for (name, expected, got) in outcomes? {
        println!("{name:<50} {expected:<32} {got}");
        if got != expected {
            wrong.push(format!("{name}: expected {expected}, found {got}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

type Row = (&'static str, &'static str, String);

/// Opens the GraphiQL page and runs urql in it. Returns the situations with
/// their expected and actual outcomes.
fn outcomes(profile: &Path, url: &str, urql: &str) -> Result<Vec<Row>, String> {
    let end = Instant::now() + PATIENCE;
    let mut page = Page::open(profile, "about:blank", end)?;
    page.navigate(&format!("{url}/graphql"))?;
    let mut rows = Vec::new();
    for (name, expected, script) in [
        ("GraphiQL: a query", "listeners 0", QUERY),
        ("GraphiQL: a subscription, and its end", "count", SUBSCRIPTION),
        ("GraphiQL: the documentation of the schema", "Query", DOCUMENTATION),
    ] {
        rows.push((name, expected, page.evaluate(&escaped(script))?));
    }
    let others = faults(&page, &format!("{url}/"))?;
    rows.push(("GraphiQL: other hosts, messages of the console", "none", others));
    // A dialog adds a style that the policy allows by its hash.
    let overflow = page.evaluate(&escaped(DIALOG))?;
    rows.push(("GraphiQL: the style of a dialog", "hidden", overflow));
    page.evaluate(&escaped(&format!("{urql}; 'loaded'")))?;
    rows.push(("urql: a subscription hears a mutation", "Eve: hello", page.evaluate("seen")?));
    Ok(rows)
}

/// Places an order as the admin of the shop with urql, on a page of the shop.
fn shop_outcomes(target: &Path, profile: &Path, urql: &str) -> Result<Vec<Row>, String> {
    // An unoptimized build takes seconds to hash a password.
    let end = Instant::now() + 3 * PATIENCE;
    let shop = Shop::start(target, end)?;
    let url = format!("http://{}/", shop.address);
    let mut page = Page::open(profile, &format!("{url}graphql"), end)?;
    page.evaluate(&escaped(&format!("{urql}; 'loaded'")))?;
    let mutation = format!("mutation('{PASSWORD}')");
    let mut rows = Vec::new();
    for (name, expected, step) in [
        ("urql, shop: a query of nobody", "Green tea 450", "query()"),
        ("urql, shop: a mutation of nobody", "401 Unauthorized", "refused()"),
        ("urql, shop: a mutation with the token of a login", "PLACED 2 for 900", &*mutation),
        ("urql, shop: a subscription with the same token", "PLACED", "subscription()"),
        ("urql, shop: a subscription of nobody", "4403 Forbidden", "forbidden()"),
        ("urql, shop: one that is refused", "404 there is no order 99", "missing()"),
        ("urql, shop: all that was heard of it", "PLACED SHIPPED and the end", "shipped()"),
    ] {
        rows.push((name, expected, page.evaluate(&format!("shop.{step}"))?));
    }
    rows.push(("urql, shop: other hosts, messages", "none", faults(&page, &url)?));
    Ok(rows)
}

/// Escapes a script for a JSON string.
fn escaped(script: &str) -> String {
    let mut text = String::with_capacity(script.len());
    for c in script.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text += &format!("\\u{:04x}", u32::from(c)),
            c => text.push(c),
        }
    }
    text
}

/// Runs a query in GraphiQL and returns a short form of its result.
const QUERY: &str = r#"(async () => {
  globalThis.wait = (look) => new Promise((done) => {
    const again = () => {
      const found = look();
      found ? done(found) : setTimeout(again, 50);
    };
    again();
  });
  const editor = await wait(() => document.querySelector(".graphiql-query-editor .CodeMirror"));
  const shown = () => document.querySelector(".result-window .CodeMirror");
  globalThis.result = () => shown().CodeMirror.getValue();
  globalThis.run = async (text) => {
    editor.CodeMirror.setValue(text);
    await new Promise((done) => setTimeout(done, 300));
    document.querySelector(".graphiql-execute-button").click();
  };
  await run("{ listeners }");
  return wait(() => /"listeners": 0/.test(result()) && "listeners 0");
})()"#;

/// Runs a subscription until its third event, then stops it.
const SUBSCRIPTION: &str = r#"(async () => {
  await run("subscription { count }");
  await wait(() => Number(/"count": (\d+)/.exec(result())?.[1]) > 2);
  document.querySelector(".graphiql-execute-button").click();
  return "count";
})()"#;

/// Opens the documentation of the schema and returns the name of its first
/// type.
const DOCUMENTATION: &str = r#"(async () => {
  document.querySelector("[aria-label='Show Documentation Explorer']").click();
  const type = await wait(() => document.querySelector(".graphiql-doc-explorer-type-name"));
  return type.textContent;
})()"#;

/// Opens the settings, which prevent the page from scrolling.
const DIALOG: &str = r#"(async () => {
  document.querySelector("[aria-label='Open settings dialog']").click();
  await wait(() => document.querySelector(".graphiql-dialog"));
  return getComputedStyle(document.body).overflow;
})()"#;

const PATIENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_becomes_a_json_string() {
        assert_eq!(escaped("say(\"a\\b\")\n// ü"), "say(\\\"a\\\\b\\\")\\u000a// ü");
    }
}
