//! Carts that become orders while the shop is killed: each becomes exactly one
//! complete order.

use std::sync::mpsc::Sender;

use super::{get, post};
use crate::live_page::{Shop, number_field};

/// A cart with a sent checkout, and its order if there was a response.
pub struct CheckOut {
    cart: String,
    order: Option<String>,
}

/// The checkouts so far.
#[derive(Default)]
pub struct Orders {
    /// The highest order id.
    last: u32,
    /// The number of checkouts with a response.
    answered: usize,
    /// Checkouts without a response. Either there was no order yet, or an order
    /// and its cart both existed, or only the order existed.
    resumed: usize,
    left_cart: usize,
    finished: usize,
}

/// Fills carts and checks them out until a request fails.
pub fn buy_on(address: &str, token: &str, told: &Sender<()>) -> Vec<CheckOut> {
    let mut sent = Vec::new();
    // The receiver is dropped when the shop is about to be killed.
    let tell = || {
        let _ = told.send(());
    };
    while let Some(cart) = filled_cart(address, token, &tell) {
        let answer = check_out(address, &cart, token);
        let order = answer.and_then(|(status, body)| {
            (status == 201).then(|| number_field(&body, "order").ok()).flatten()
        });
        let is_answered = order.is_some();
        sent.push(CheckOut { cart, order });
        if !is_answered {
            break;
        }
        tell();
    }
    sent
}

fn filled_cart(address: &str, token: &str, tell: &impl Fn()) -> Option<String> {
    let (_, body) = post(address, "/carts", token, "").ok().filter(|(status, _)| *status == 201)?;
    let cart = number_field(&body, "cart").ok()?;
    tell();
    let items = format!("/carts/{cart}/items");
    let (status, _) = post(address, &items, token, r#"{"product":1,"count":3}"#).ok()?;
    tell();
    (status == 204).then_some(cart)
}

fn check_out(address: &str, cart: &str, token: &str) -> Option<(u16, String)> {
    post(address, &format!("/carts/{cart}/checkout"), token, "").ok()
}

/// The lines of each order.
const LINES: &str = r#""lines":[{"product":1,"count":3,"cents":1350}]"#;

impl Orders {
    /// Checks each cart out again, as its owner would, and expects exactly one
    /// order for each.
    pub fn settle(&mut self, shop: &Shop, token: &str, sent: &[CheckOut]) -> Result<(), String> {
        for CheckOut { cart, order } in sent {
            let again = check_out(&shop.address, cart, token).ok_or("the shop does not respond")?;
            match (order, again.0) {
                (Some(_), 404 | 409) => self.answered += 1,
                (None, 201) => self.resumed += 1,
                (None, 409) => self.left_cart += 1,
                (None, 404) => self.finished += 1,
                (_, status) => {
                    return Err(format!("cart {cart}, order {order:?}: {status} {}", again.1));
                }
            }
        }
        let mut found = Vec::new();
        loop {
            let id = self.last + 1;
            let (status, body) = get(&shop.address, &format!("/orders/{id}"), token)?;
            match status {
                200 if body.contains(LINES) => found.push(id.to_string()),
                404 => break,
                _ => return Err(format!("order {id}: {status} {body}")),
            }
            self.last = id;
        }
        let lost = sent.iter().filter_map(|it| it.order.as_ref()).find(|it| !found.contains(it));
        if lost.is_some() || found.len() != sent.len() {
            return Err(format!(
                "{} checkouts made {} orders; lost: {lost:?}",
                sent.len(),
                found.len()
            ));
        }
        Ok(())
    }

    /// Returns a line about all checkouts.
    pub fn summary(&self) -> String {
        let Self { answered, resumed, left_cart, finished, .. } = self;
        format!(
            "{answered} answered checkouts are one order each, and so are those without an \
             answer: {resumed} were no order yet, {left_cart} had left their cart, {finished} \
             nothing"
        )
    }
}
