//! The data of the shop and its errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
#[cfg(feature = "graphql")]
use stockade::graphql::async_graphql as gql;
use stockade::prelude::*;
use stockade::rest::{Entity, Filter, ListQuery, NewRow, Op, RowFilter, VersionCheck};
use stockade::rest::{Store as _, StoreError};
use tokio::sync::watch;

use crate::database::{Database, Table};

/// The data of the shop, with a table for each type.
pub struct Shop {
    pub secret: Secret,
    pub database: Database,
    pub users: Table<Account>,
    pub products: Table<Product>,
    /// The images of the products. A new image replaces the earlier one of its
    /// product.
    pub images: Table<Image>,
    pub carts: Table<Cart>,
    pub orders: Table<Order>,
    /// Wakes the clients that watch an order whenever an order is shipped.
    pub shipped: watch::Sender<()>,
}

impl Shop {
    /// Opens the shop with its data at `address`. An empty shop gets a few
    /// products. `secret` signs the tokens.
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

    /// Finds the account of an email address, ignoring case.
    pub async fn find_account(&self, email: &str) -> Result<Option<Account>, StoreError> {
        let query =
            ListQuery { filters: vec![is("email", email.to_ascii_lowercase())], ..first(1) };
        Ok(self.users.list(&query).await?.items.pop().map(|it| it.value))
    }

    /// Creates or updates an administrator with this email address and
    /// password.
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
            // Someone else has registered this address; their tokens must not
            // gain admin rights.
            Some(known) => {
                self.users.delete(&known.id, VersionCheck::Any, &RowFilter::all()).await?
            }
            None => {}
        }
        self.add_account("Admin", email, Role::Admin, password_hash).await.map(drop)
    }
}

/// A single statement, so a crash never leaves partial data.
const STOCK: &str = "\
    INSERT INTO products (name, category, price_cents, image_bytes)
    SELECT * FROM (VALUES
        ('Green tea', 'tea', 450, 0),
        ('Black tea', 'tea', 390, 0),
        ('Teapot', 'crockery', 2900, 0),
        ('Coffee', 'coffee', 780, 0),
        ('Cup', 'crockery', 600, 0)
    ) AS new WHERE NOT EXISTS (SELECT 1 FROM products)";

/// Returns a query for the first rows, up to this limit.
pub fn first(limit: usize) -> ListQuery {
    ListQuery::new("id", limit)
}

/// Returns a filter for fields that equal a value.
pub fn is(field: &str, value: impl Into<Value>) -> Filter {
    Filter { field: field.into(), op: Op::Eq, values: vec![value.into()] }
}

/// Reads all rows that match the filters, sorted by id, a hundred at a time.
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

/// The public data of an account.
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
    /// The email address in lowercase, so each address has one account.
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

/// The authenticated user in handlers. A token contains only `sub`.
#[derive(Deserialize, Serialize)]
pub struct Claims {
    /// The account id, which is text in a token.
    pub sub: String,
    pub role: Role,
}

#[derive(Deserialize, Schema, Serialize)]
pub struct Cart {
    pub id: u32,
    pub owner: String,
    /// The quantity of each product, by product id.
    pub items: BTreeMap<u32, u32>,
    /// True once it becomes an order: nothing more can be added.
    pub closed: bool,
}

impl Entity for Cart {
    type Id = u32;
}

/// A product. Requests must follow its rules; a misspelled field is an error.
#[derive(Clone, Deserialize, Serialize, Schema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "graphql", derive(gql::SimpleObject), graphql(crate = "gql"))]
pub struct Product {
    pub id: u32,
    #[schema(trim, required, max_length = 100)]
    pub name: String,
    #[schema(values = ["tea", "coffee", "crockery"])]
    pub category: String,
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub price_cents: u32,
    /// The size of the image in bytes; 0 without one.
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
    /// The cart of this order. It is unique among orders.
    pub cart: u32,
    pub owner: String,
    pub lines: Vec<OrderLine>,
    pub status: Status,
}

impl Entity for Order {
    type Id = u32;
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Schema, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "graphql", derive(gql::Enum), graphql(crate = "gql"))]
pub enum Status {
    Placed,
    Shipped,
}

/// A number of pieces of a product, and their total price.
#[derive(Clone, Deserialize, Schema, Serialize)]
#[cfg_attr(feature = "graphql", derive(gql::SimpleObject), graphql(crate = "gql", complex))]
pub struct OrderLine {
    pub product: u32,
    pub count: u32,
    #[cfg_attr(feature = "graphql", graphql(skip))]
    pub cents: u32,
}

// The errors, each with its status and message. A handler names its errors,
// which also appear in its documentation.

/// The cause is logged and hidden from clients.
#[derive(Debug, ApiError)]
#[status(503, "the shop cannot access its data")]
pub struct NoData(#[from] StoreError);

#[derive(Debug, ApiError)]
pub enum UserError {
    #[status(404, "there is no user {0}")]
    Missing(u32),
    #[status(503, "the shop cannot access its data")]
    NoData(#[from] StoreError),
}

#[derive(Debug, ApiError)]
pub enum ProductError {
    #[status(404, "there is no product {0}")]
    Missing(u32),
    #[status(503, "the shop cannot access its data")]
    NoData(#[from] StoreError),
}

#[derive(Debug, ApiError)]
pub enum CartError {
    #[status(404, "there is no cart {0}")]
    Missing(u32),
    #[status(503, "the shop cannot access its data")]
    NoData(#[from] StoreError),
}

#[derive(Debug, ApiError)]
pub enum OrderError {
    #[status(404, "there is no order {0}")]
    Missing(u32),
    #[status(503, "the shop cannot access its data")]
    NoData(#[from] StoreError),
}
