//! The bytes of requests and responses.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The body of `large`. stockade has the same type with a schema.
#[derive(Debug, Deserialize, Serialize)]
pub struct Orders {
    /// The orders, at most [`MAX_ORDERS`].
    pub orders: Vec<Order>,
}

/// An order of [`Orders`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Order {
    /// The order number.
    pub id: u32,
    /// The product name.
    pub product: String,
    /// The number of items.
    pub quantity: u32,
    /// The price per item.
    pub price: f64,
    /// True if the order is paid.
    pub paid: bool,
}

/// The maximum number of orders; longer lists are rejected.
pub const MAX_ORDERS: usize = 2_000;

/// Returns 100 KB of JSON: [`Orders`], serialized by serde_json.
///
/// # Panics
/// Never panics, because numbers and strings can always be serialized.
#[must_use]
pub fn orders() -> Vec<u8> {
    let order = |id: u32| Order {
        id,
        product: format!("A thing of the kind {}", id % 97),
        quantity: id % 9 + 1,
        price: f64::from(id % 1_000) + 0.25,
        paid: id.is_multiple_of(3),
    };
    let orders = Orders { orders: (10_000..11_110).map(order).collect() };
    serde_json::to_vec(&orders).unwrap_or_default()
}

/// The text of an event and of a message, about as long as a chat message.
pub const NEWS: &str = "{\"room\":7,\"text\":\"A line that everybody in the room shall read.\"}";

/// The text that a member of `broadcast` receives after it joins the room.
pub const WELCOME: &str = "here";

/// Returns the bytes of a server-sent event with [`NEWS`].
#[must_use]
pub fn event() -> String {
    format!("data: {NEWS}\n\n")
}

/// Returns the bytes of the file: 10 MB, with all 4-byte blocks different.
#[must_use]
pub fn file() -> Vec<u8> {
    (0..2_500_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// Returns the path of the file in a folder.
#[must_use]
pub fn file_in(folder: &Path) -> PathBuf {
    folder.join("file.bin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_their_stated_sizes() {
        assert!((95_000..=105_000).contains(&orders().len()), "{}", orders().len());
        assert_eq!(file().len(), 10_000_000);
        let read: Orders = serde_json::from_slice(&orders()).unwrap();
        assert_eq!(serde_json::to_vec(&read).unwrap(), orders());
        assert!(read.orders.len() <= MAX_ORDERS);
    }
}
