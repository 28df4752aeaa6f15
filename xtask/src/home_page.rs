//! The front page of the shop, in Chromium: it works without scripts, orders by
//! keyboard, shows the changes of a POST, and fits a small screen.

use std::path::Path;
use std::time::Instant;

use crate::docs_page::{dark_mode, faults, open, press, width};
use crate::live_page::{Page, Shop};

/// The situations and their expected outcomes.
pub const SITUATIONS: [(&str, &str); 7] = [
    ("home: products and buttons without scripts", "5 and 0"),
    ("home: the width at 360 px", "360"),
    ("home: the colors of dark mode", "different"),
    ("home: an order by keyboard", "placed"),
    ("home: the order after a POST ships it", "shipped"),
    ("home: the path of the status stream", "/graphql"),
    ("home: requests to other hosts, console messages", "none"),
];

/// Returns the outcome of each of [`SITUATIONS`]. The arguments are the same as
/// for [`live_page::outcomes`](crate::live_page::outcomes).
pub fn outcomes(
    target: &Path,
    profile: &Path,
    end: Instant,
) -> Result<Vec<(String, String)>, String> {
    let shop = Shop::start(target, end)?;
    let url = format!("http://{}/", shop.address);
    let mut page = Page::open(profile, "about:blank", end)?;
    open(&mut page, &url, false)?;
    let mut got = vec![page.evaluate(
        "[...document.querySelectorAll('.products li')].length + ' and ' + \
         [...document.querySelectorAll('button')].filter((it) => it.offsetParent).length",
    )?];
    open(&mut page, &url, true)?;
    got.push(width(&mut page)?);
    got.push(dark_mode(&mut page)?);
    page.evaluate("document.querySelector('button').focus(), ''")?;
    press(&mut page, "Enter", r#","text":"\r""#)?;
    let (order, status) = status_after(&mut page, "")?;
    got.push(status);
    let token = shop.admin_token()?;
    shop.post(&format!("/orders/{order}/ship"), &token, "")?;
    got.push(status_after(&mut page, "placed")?.1);
    got.push(path_of_stream(&mut page)?);
    got.push(faults(&page, &url)?);
    let names = SITUATIONS.into_iter().map(|(name, _)| name.to_owned());
    Ok(names.zip(got).collect())
}

/// Waits until an event stream has ended and returns its path. The browser
/// lists a request when its response has ended.
fn path_of_stream(page: &mut Page) -> Result<String, String> {
    page.evaluate(
        "new Promise((done) => { const look = () => { const paths = \
         performance.getEntriesByType('resource').filter((it) => it.initiatorType === 'fetch')\
         .map((it) => new URL(it.name).pathname).filter((it) => /graphql|events/.test(it)); \
         if (paths.length) done(paths.join(' ')); else setTimeout(look, 50); }; look(); })",
    )
}

/// Waits until the page shows an error or a status other than `before`. Returns
/// it with the order.
fn status_after(page: &mut Page, before: &str) -> Result<(String, String), String> {
    let shown = page.evaluate(&format!(
        "new Promise((done) => {{ const look = () => {{ const last = \
         document.querySelector('#log li:last-child'); const words = \
         (last && last.className === 'now' ? last.textContent : '').match(/^Order (.*) is (.*)[.]$/); \
         if (words && words[2] !== '{before}') done(words[1] + ' ' + words[2]); \
         else if (last && last.className === 'now' && !words) done('none ' + last.textContent); \
         else setTimeout(look, 50); }}; look(); }})"
    ))?;
    let (order, status) = shown.split_once(' ').ok_or("the page shows no order")?;
    Ok((order.to_owned(), status.to_owned()))
}
