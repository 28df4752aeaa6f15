//! Kills the shop with SIGKILL during writes, repeatedly. Then checks that
//! every confirmed write exists and that no write is incomplete.

mod orders;

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use self::orders::{CheckOut, Orders, buy_on};
use crate::live_page::{Shop, number_field};
use crate::{Outcome, examples, is_part_of, target_directory};

/// The number of clients that write at the same time, each into a separate
/// cart.
const CLIENTS: usize = 4;

/// The number of additional clients that turn carts into orders, one after
/// another.
const BUYERS: usize = 2;

/// The writes of a round, which the next round must find.
#[derive(Default)]
struct Written {
    /// The carts, each with its number of confirmed pieces.
    carts: Vec<(String, usize)>,
    check_outs: Vec<CheckOut>,
}

pub fn run() -> Outcome {
    let long = env::args().any(|argument| argument == "--long") || is_part_of("nightly");
    let rounds = if long { 200 } else { 5 };
    if !is_part_of("ci") {
        examples::debug_program("shop")?;
    }
    let folder = target_directory()?.join("kills");
    // The folder may not exist.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let database = folder.join("shop.db");
    let mut total = 0;
    let mut orders = Orders::default();
    let mut written = Written::default();
    // One login serves all rounds, because hashing a password takes seconds
    // without optimization.
    let mut token: Option<String> = None;
    for round in 0..=rounds {
        let shop = start(&database)?;
        let token: &str = match &token {
            Some(token) => token,
            None => token.insert(shop.admin_token()?),
        };
        for (cart, answered) in written.carts {
            let (_, content) = get(&shop.address, &format!("/carts/{cart}"), token)?;
            let kept: usize = number_field(&content, "count")?.parse().map_err(|_| "no count")?;
            // The last piece may exist without a response.
            if !(answered..=answered + 1).contains(&kept) {
                return Err(format!("cart {cart}: expected {answered} pieces, found {kept}"));
            }
            total += answered;
        }
        orders.settle(&shop, token, &written.check_outs)?;
        written = Written::default();
        if round < rounds {
            written = killed_while_writing(shop, token, round)?;
        }
    }
    println!("{total} acknowledged writes survived {rounds} SIGKILLs");
    println!("{}", orders.summary());
    Ok(())
}

fn start(database: &Path) -> Result<Shop, String> {
    let target = target_directory()?;
    let address = database.to_str().ok_or("the name of the folder is not UTF-8")?;
    Shop::start_on(&target, address, Instant::now() + Duration::from_secs(30))
}

/// Writes from several clients until the shop is killed.
fn killed_while_writing(mut shop: Shop, token: &str, round: usize) -> Result<Written, String> {
    let carts = (0..CLIENTS).map(|_| {
        let cart = number_field(&shop.post("/carts", token, "")?, "cart")?;
        add(&shop.address, &cart, token).ok_or(format!("cart {cart} does not accept items"))?;
        Ok(cart)
    });
    let carts = carts.collect::<Result<Vec<_>, String>>()?;
    let (sender, answers) = channel();
    let client = || (shop.address.clone(), token.to_owned(), sender.clone());
    let writers = carts.into_iter().map(|cart| {
        let (address, token, sender) = client();
        thread::spawn(move || write_on(&address, cart, &token, &sender))
    });
    let writers: Vec<_> = writers.collect();
    let buyers = (0..BUYERS).map(|_| {
        let (address, token, sender) = client();
        thread::spawn(move || buy_on(&address, &token, &sender))
    });
    let buyers: Vec<_> = buyers.collect();
    drop(sender);
    // Each round ends at a different time, below the rate limit of the shop.
    for _ in 0..10 + (round * 37) % 120 {
        answers.recv_timeout(Duration::from_secs(10)).map_err(|_| "the shop does not respond")?;
    }
    shop.kill()?;
    let mut written = Written::default();
    for writer in writers {
        written.carts.push(writer.join().map_err(|_| "a client panics")?);
    }
    for buyer in buyers {
        written.check_outs.extend(buyer.join().map_err(|_| "a buyer panics")?);
    }
    Ok(written)
}

/// Adds pieces until a request fails. Returns the cart and the number of
/// confirmed pieces.
fn write_on(address: &str, cart: String, token: &str, told: &Sender<()>) -> (String, usize) {
    let mut answered = 1;
    while add(address, &cart, token).is_some() {
        answered += 1;
        // The receiver is dropped when the shop is about to be killed.
        let _ = told.send(());
    }
    (cart, answered)
}

/// Adds one piece to a cart. Returns `None` unless the shop confirms it.
fn add(address: &str, cart: &str, token: &str) -> Option<()> {
    let answer = post(address, &format!("/carts/{cart}/items"), token, r#"{"product":1}"#);
    answer.is_ok_and(|(status, _)| status == 204).then_some(())
}

/// Sends a POST and returns the status and the body of the response.
fn post(address: &str, path: &str, token: &str, body: &str) -> Result<(u16, String), String> {
    let content =
        format!("Content-Length: {}\r\nContent-Type: application/json\r\n\r\n{body}", body.len());
    ask(address, &format!("POST {path}"), token, &content)
}

/// Sends a GET and returns the status and the body of the response.
fn get(address: &str, path: &str, token: &str) -> Result<(u16, String), String> {
    ask(address, &format!("GET {path}"), token, "\r\n")
}

/// Sends a request; `rest` follows the usual headers.
fn ask(address: &str, what: &str, token: &str, rest: &str) -> Result<(u16, String), String> {
    let send = || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(
            stream,
            "{what} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Authorization: Bearer {token}\r\n{rest}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    let answer = send().map_err(|error: std::io::Error| format!("{what}: {error}"))?;
    let status = answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let (_, body) = answer.split_once("\r\n\r\n").ok_or(format!("{what}: {answer:?}"))?;
    Ok((status.ok_or(format!("{what}: {answer:?}"))?, body.to_owned()))
}
