//! What the shop keeps, and what can go wrong with it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stockade::graphql::async_graphql as gql;
use stockade::prelude::*;
use stockade::rest::{Entity, Filter, ListQuery, NewRow, Op, RowFilter, VersionCheck};
use stockade::rest::{Store as _, StoreError};
use tokio::sync::watch;

use super::database::{Database, Table};

/// The data of the shop: each type is the rows of a table.
pub struct Shop {
    pub secret: Secret,
    pub database: Database,
    pub users: Table<Account>,
    pub products: Table<Product>,
    /// The image of a product, which replaces an earlier one.
    pub images: Table<Image>,
    pub carts: Table<Cart>,
    pub orders: Table<Order>,
    /// Wakes who watches an order, each time that one is shipped.
    pub shipped: watch::Sender<()>,
}

impl Shop {
    /// Opens the shop with its data at `address`; one without products gets a few.
    /// `secret` signs the tokens.
    pub async fn open(address: &str, secret: Secret) -> Result<Self, BoxError> {
        let database = Database::open(address).await?;
        let shop = Self {
            secret,
            database: database.clone(),
            users: database.table("users", Some("email")).await?,
            products: database.table("products", None).await?,
            images: database.table("images", None).await?,
            carts: database.table("carts", None).await?,
            orders: database.table("orders", Some("cart")).await?,
            shipped: watch::Sender::new(()),
        };
        database.run(STOCK).await?;
        Ok(shop)
    }

    /// Adds an account.
    pub async fn add_account(
        &self,
        name: &str,
        email: &str,
        role: Role,
        password_hash: &str,
    ) -> Result<Account, StoreError> {
        let account = [
            ("name", json!(name)),
            ("email", json!(email.to_ascii_lowercase())),
            ("role", json!(role)),
            ("password_hash", json!(password_hash)),
        ];
        Ok(self.users.create(NewRow::new(account)).await?.value)
    }

    /// Finds the account of an email, in upper or lower case.
    pub async fn find_account(&self, email: &str) -> Result<Option<Account>, StoreError> {
        let query =
            ListQuery { filters: vec![is("email", email.to_ascii_lowercase())], ..first(1) };
        Ok(self.users.list(&query).await?.items.pop().map(|it| it.value))
    }

    /// Makes sure that there is an administrator of this email with this password.
    pub async fn let_admin_in(&self, email: &str, password_hash: &str) -> Result<(), StoreError> {
        match self.find_account(email).await? {
            Some(known) if known.role == Role::Admin => {
                let hash = NewRow::new([("password_hash", json!(password_hash))]);
                return self
                    .users
                    .replace(&known.id, hash, VersionCheck::Any, &RowFilter::all())
                    .await
                    .map(drop);
            }
            // Somebody else signed up with it, whose tokens must not become those of an admin.
            Some(known) => {
                self.users.delete(&known.id, VersionCheck::Any, &RowFilter::all()).await?
            }
            None => {}
        }
        self.add_account("Admin", email, Role::Admin, password_hash).await.map(drop)
    }
}

/// One statement, so that an end in the midst of it leaves nothing half done.
const STOCK: &str = "\
    INSERT INTO products (name, category, price_cents, image_bytes)
    SELECT * FROM (VALUES
        ('Green tea', 'tea', 450, 0),
        ('Black tea', 'tea', 390, 0),
        ('Teapot', 'crockery', 2900, 0),
        ('Coffee', 'coffee', 780, 0),
        ('Cup', 'crockery', 600, 0)
    ) AS new WHERE NOT EXISTS (SELECT 1 FROM products)";

/// Asks for so many rows at most, from the first on.
pub fn first(limit: usize) -> ListQuery {
    ListQuery::new("id", limit)
}

/// The filter by a field that is equal to a value.
pub fn is(field: &str, value: impl Into<Value>) -> Filter {
    Filter { field: field.into(), op: Op::Eq, values: vec![value.into()] }
}

/// Reads all rows that pass the filters, in the order of their ids and by the hundred.
pub async fn all<T: Entity<Id = u32>>(
    table: &Table<T>,
    filters: Vec<Filter>,
    id: impl Fn(&T) -> u32,
) -> Result<Vec<T>, StoreError> {
    let mut query = ListQuery { filters, ..first(100) };
    let mut rows: Vec<T> = Vec::new();
    loop {
        let page = table.list(&query).await?;
        rows.extend(page.items.into_iter().map(|it| it.value));
        match rows.last() {
            Some(last) if page.more => query.after = Some(vec![json!(id(last))]),
            _ => return Ok(rows),
        }
    }
}

/// What others may see of an account.
#[derive(Clone, Serialize, Schema)]
pub struct Profile {
    pub id: u32,
    pub name: String,
    pub email: String,
    pub role: Role,
}

#[derive(Deserialize, Schema, Serialize)]
pub struct Account {
    pub id: u32,
    pub name: String,
    /// In lower case, so that there is one account of an address.
    pub email: String,
    pub role: Role,
    pub password_hash: String,
}

impl Entity for Account {
    type Id = u32;
}

impl From<Account> for Profile {
    fn from(Account { id, name, email, role, .. }: Account) -> Self {
        Self { id, name, email, role }
    }
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

#[derive(Deserialize, Schema, Serialize)]
pub struct Cart {
    pub id: u32,
    pub owner: String,
    /// The number of pieces of each product.
    pub items: BTreeMap<u32, u32>,
    /// True once it becomes an order: nothing is added any more.
    pub closed: bool,
}

impl Entity for Cart {
    type Id = u32;
}

/// A product. The rules of its fields hold for clients; a misspelt field is an error and
/// not silently left out.
#[derive(Clone, Deserialize, Serialize, Schema, gql::SimpleObject)]
#[serde(deny_unknown_fields)]
#[graphql(crate = "gql")]
pub struct Product {
    pub id: u32,
    #[schema(trim, required, max_length = 100)]
    pub name: String,
    #[schema(values = ["tea", "coffee", "crockery"])]
    pub category: String,
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub price_cents: u32,
    /// The size of its image; 0 without one.
    pub image_bytes: u32,
}

impl Entity for Product {
    type Id = u32;
}

#[derive(Deserialize, Schema, Serialize)]
pub struct Image {
    /// The id of the product.
    pub id: u32,
    pub name: String,
    /// The bytes in Base64, because a row is JSON.
    pub content: String,
}

impl Entity for Image {
    type Id = u32;
}

#[derive(Deserialize, Schema, Serialize)]
pub struct Order {
    pub id: u32,
    /// The cart that it was. No two orders have the same one.
    pub cart: u32,
    pub owner: String,
    pub lines: Vec<OrderLine>,
    pub status: Status,
}

impl Entity for Order {
    type Id = u32;
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Schema, Serialize, gql::Enum)]
#[serde(rename_all = "lowercase")]
#[graphql(crate = "gql")]
pub enum Status {
    Placed,
    Shipped,
}

/// So many pieces of a product, and what they cost together.
#[derive(Clone, Deserialize, Schema, Serialize, gql::SimpleObject)]
#[graphql(crate = "gql", complex)]
pub struct OrderLine {
    pub product: u32,
    pub count: u32,
    #[graphql(skip)]
    pub cents: u32,
}

// What can go wrong, each with its status and message. A handler names what can
// go wrong with it, and so does its part of the document.

/// The cause is logged, and no client gets it.
#[derive(Debug, ApiError)]
#[status(503, "the shop cannot get at its data")]
pub struct NoData(#[from] StoreError);

#[derive(Debug, ApiError)]
pub enum UserError {
    #[status(404, "there is no user {0}")]
    Missing(u32),
    #[status(503, "the shop cannot get at its data")]
    NoData(#[from] StoreError),
}

#[derive(Debug, ApiError)]
pub enum ProductError {
    #[status(404, "there is no product {0}")]
    Missing(u32),
    #[status(503, "the shop cannot get at its data")]
    NoData(#[from] StoreError),
}

#[derive(Debug, ApiError)]
pub enum CartError {
    #[status(404, "there is no cart {0}")]
    Missing(u32),
    #[status(503, "the shop cannot get at its data")]
    NoData(#[from] StoreError),
}

#[derive(Debug, ApiError)]
pub enum OrderError {
    #[status(404, "there is no order {0}")]
    Missing(u32),
    #[status(503, "the shop cannot get at its data")]
    NoData(#[from] StoreError),
}
