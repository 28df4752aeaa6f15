//! What the shop keeps, and what can go wrong with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stockade::extract::FileName;
use stockade::prelude::*;
use tokio::sync::{RwLock, watch};

pub struct Shop {
    pub secret: Secret,
    pub stock: RwLock<Stock>,
}

impl Shop {
    /// A shop with a few products; `secret` signs the tokens.
    pub fn stocked(secret: Secret) -> Self {
        let mut stock = Stock::default();
        for (name, category, price_cents) in [
            ("Green tea", "tea", 450),
            ("Black tea", "tea", 390),
            ("Teapot", "crockery", 2_900),
            ("Coffee", "coffee", 780),
            ("Cup", "crockery", 600),
        ] {
            stock.add_product(name.into(), category.into(), price_cents);
        }
        Self { secret, stock: RwLock::new(stock) }
    }

    /// Opens an account before the shop does, and gives its id.
    pub fn add_account(&mut self, name: &str, email: &str, role: Role, hash: String) -> u32 {
        self.stock.get_mut().add_account(name.into(), email.into(), role, hash).id
    }
}

#[derive(Default)]
pub struct Stock {
    pub users: BTreeMap<u32, Account>,
    pub products: BTreeMap<u32, Product>,
    /// The image of a product, which replaces an earlier one.
    pub images: BTreeMap<u32, (FileName, Bytes)>,
    pub carts: BTreeMap<u32, Cart>,
    pub orders: BTreeMap<u32, Order>,
    pub last_id: u32,
}

impl Stock {
    pub fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    pub fn add_account(
        &mut self,
        name: String,
        email: String,
        role: Role,
        hash: String,
    ) -> Profile {
        let profile = Profile { id: self.new_id(), name, email, role };
        let account = Account { profile: profile.clone(), password_hash: hash };
        self.users.insert(profile.id, account);
        profile
    }

    /// A cart of this owner; that of somebody else is as good as none.
    pub fn cart(&mut self, id: u32, owner: &Claims) -> Result<&mut Cart, NoCart> {
        let cart = self.carts.get_mut(&id).filter(|cart| cart.owner == owner.sub);
        cart.ok_or(NoCart(id))
    }

    /// An order that this user may see.
    pub fn order(&self, id: u32, user: &Claims) -> Result<&Order, NoOrder> {
        let may_see = |order: &&Order| order.owner == user.sub || user.role != Role::Customer;
        self.orders.get(&id).filter(may_see).ok_or(NoOrder(id))
    }

    pub fn add_product(&mut self, name: String, category: String, price_cents: u32) -> Product {
        let id = self.new_id();
        let product = Product { id, name, category, price_cents, image_bytes: 0 };
        self.products.insert(id, product.clone());
        product
    }
}

/// What others may see of an account.
#[derive(Clone, Serialize, Reply, Schema)]
pub struct Profile {
    pub id: u32,
    pub name: String,
    pub email: String,
    pub role: Role,
}

pub struct Account {
    pub profile: Profile,
    pub password_hash: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Schema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Customer,
    Clerk,
    Admin,
}

/// Who asks, as handlers see it. A token holds only `sub`.
#[derive(Deserialize, Serialize)]
pub struct Claims {
    /// The id of the account, which is text in a token.
    pub sub: String,
    pub role: Role,
}

pub struct Cart {
    pub owner: String,
    pub items: BTreeMap<u32, u32>,
}

#[derive(Clone, Serialize, Reply, Schema)]
pub struct Product {
    pub id: u32,
    pub name: String,
    pub category: String,
    pub price_cents: u32,
    pub image_bytes: usize,
}

pub struct Order {
    pub owner: String,
    pub lines: Vec<OrderLine>,
    pub status: watch::Sender<Status>,
}

#[derive(Clone, Copy, Debug, PartialEq, Schema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Placed,
    Shipped,
}

/// So many pieces of a product, and what they cost together.
#[derive(Clone, Schema, Serialize)]
pub struct OrderLine {
    pub product: u32,
    pub count: u32,
    pub cents: u32,
}

// What can go wrong, each with its status and message. A handler names what can
// go wrong with it, and so does its part of the document.

#[derive(Debug, ApiError)]
#[status(404, "there is no user {0}")]
pub struct NoUser(pub u32);

#[derive(Debug, ApiError)]
#[status(404, "there is no product {0}")]
pub struct NoProduct(pub u32);

#[derive(Debug, ApiError)]
#[status(404, "there is no cart {0}")]
pub struct NoCart(pub u32);

#[derive(Debug, ApiError)]
#[status(404, "there is no order {0}")]
pub struct NoOrder(pub u32);
