//! The bytes that go to and fro.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The body of `large`. stockade has the same type with a schema.
#[derive(Debug, Deserialize, Serialize)]
pub struct Orders {
    /// At most [`MAX_ORDERS`].
    pub orders: Vec<Order>,
}

/// An order of [`Orders`].
#[derive(Debug, Deserialize, Serialize)]
pub struct Order {
    /// Its number.
    pub id: u32,
    /// The name of what is ordered.
    pub product: String,
    /// The number of them.
    pub quantity: u32,
    /// For each.
    pub price: f64,
    /// True when it was paid.
    pub paid: bool,
}

/// More orders than this are refused.
pub const MAX_ORDERS: usize = 2_000;

/// Returns 100 KB of JSON: [`Orders`], as serde_json writes them.
///
/// # Panics
/// Never: numbers and texts can always be written.
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

/// The text of an event and of a message: about that of a line of a chat.
pub const NEWS: &str = "{\"room\":7,\"text\":\"A line that everybody in the room shall read.\"}";

/// The text that a member of `broadcast` gets once it is in the room.
pub const WELCOME: &str = "here";

/// Returns the bytes of a server-sent event with [`NEWS`].
#[must_use]
pub fn event() -> String {
    format!("data: {NEWS}\n\n")
}

/// Returns the bytes of the file: 10 MB, no two pieces of 4 bytes alike.
#[must_use]
pub fn file() -> Vec<u8> {
    (0..2_500_000_u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// Returns the path of the file in this folder.
#[must_use]
pub fn file_in(folder: &Path) -> PathBuf {
    folder.join("file.bin")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_as_they_say() {
        assert!((95_000..=105_000).contains(&orders().len()), "{}", orders().len());
        assert_eq!(file().len(), 10_000_000);
        let read: Orders = serde_json::from_slice(&orders()).unwrap();
        assert_eq!(serde_json::to_vec(&read).unwrap(), orders());
        assert!(read.orders.len() <= MAX_ORDERS);
    }
}
