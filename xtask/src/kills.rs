//! Ends the shop by SIGKILL in the midst of writes, again and again, and finds each
//! write that it had answered.

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::live_page::{Shop, number_field};
use crate::{Outcome, cargo, is_part_of, target_directory};

/// The clients that write at the same time, each into a cart of its own.
const CLIENTS: usize = 4;

pub fn run() -> Outcome {
    let long = env::args().any(|argument| argument == "--long") || is_part_of("nightly");
    let rounds = if long { 200 } else { 5 };
    if !is_part_of("ci") {
        cargo(&["build", "-p", "stockade-examples", "--example", "shop"])?;
    }
    let folder = target_directory()?.join("kills");
    // An absent folder is as good as an empty one.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let database = folder.join("shop.db");
    let mut total = 0;
    // The carts of the last round, each with the pieces whose adding was answered.
    let mut carts = Vec::new();
    for round in 0..=rounds {
        let shop = start(&database)?;
        let token = shop.admin_token()?;
        for (cart, answered) in carts.drain(..) {
            let content = get(&shop.address, &format!("/carts/{cart}"), &token)?;
            let kept: usize = number_field(&content, "count")?.parse().map_err(|_| "no count")?;
            // The last one may be there without its answer.
            if !(answered..=answered + 1).contains(&kept) {
                return Err(format!("cart {cart} had {answered} pieces, and has {kept}"));
            }
            total += answered;
        }
        if round < rounds {
            carts = killed_while_writing(shop, &token, round)?;
        }
    }
    println!("{total} answered writes survived {rounds} times SIGKILL");
    Ok(())
}

fn start(database: &Path) -> Result<Shop, String> {
    let target = target_directory()?;
    let address = database.to_str().ok_or("the folder has no name in UTF-8")?;
    Shop::start_on(&target, address, Instant::now() + Duration::from_secs(30))
}

/// Writes from several clients until the shop is killed, and returns their carts.
fn killed_while_writing(
    mut shop: Shop,
    token: &str,
    round: usize,
) -> Result<Vec<(String, usize)>, String> {
    let carts = (0..CLIENTS).map(|_| {
        let cart = number_field(&shop.post("/carts", token, "")?, "cart")?;
        add(&shop.address, &cart, token).ok_or(format!("cart {cart} takes nothing"))?;
        Ok(cart)
    });
    let carts = carts.collect::<Result<Vec<_>, String>>()?;
    let (sender, answers) = channel();
    let writers = carts.into_iter().map(|cart| {
        let (address, token, sender) = (shop.address.clone(), token.to_owned(), sender.clone());
        thread::spawn(move || write_on(&address, cart, &token, &sender))
    });
    let writers: Vec<_> = writers.collect();
    drop(sender);
    // Each round ends at another moment, below the rate limit of the shop.
    for _ in 0..10 + (round * 37) % 150 {
        answers.recv_timeout(Duration::from_secs(10)).map_err(|_| "the shop does not answer")?;
    }
    shop.kill()?;
    let counted = writers.into_iter().map(|writer| writer.join().map_err(|_| "a client panics"));
    Ok(counted.collect::<Result<_, _>>()?)
}

/// Adds pieces until there is no answer any more, and returns how many were answered.
fn write_on(address: &str, cart: String, token: &str, told: &Sender<()>) -> (String, usize) {
    let mut answered = 1;
    while add(address, &cart, token).is_some() {
        answered += 1;
        // Nobody listens any more once the shop is to be killed.
        let _ = told.send(());
    }
    (cart, answered)
}

/// Adds one piece to a cart, if the shop says so.
fn add(address: &str, cart: &str, token: &str) -> Option<()> {
    let body = r#"{"product":1}"#;
    let request = format!(
        "POST /carts/{cart}/items HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Length: {}\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\n\r\n{body}",
        body.len()
    );
    let answer = ask(address, &request).ok()?;
    answer.starts_with("HTTP/1.1 204").then_some(())
}

fn get(address: &str, path: &str, token: &str) -> Result<String, String> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\n\r\n"
    );
    let answer = ask(address, &request).map_err(|error| format!("GET {path}: {error}"))?;
    match answer.starts_with("HTTP/1.1 200") {
        true => Ok(answer),
        false => Err(format!("GET {path}: {answer}")),
    }
}

fn ask(address: &str, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
