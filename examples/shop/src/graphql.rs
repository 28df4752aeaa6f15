//! The shop over GraphQL: public products, orders for their buyers, and live
//! updates of an order's status.
//!
//! The GraphQL objects are the response types of handlers, and resolvers call
//! the functions of the handlers. Permissions, errors and events are therefore
//! the same in both APIs.

use std::sync::Arc;

use futures_util::Stream;
use stockade::graphql::{GraphQl, RequestContext, async_graphql as gql, list_complexity};
use stockade::prelude::*;
use stockade::rest::{ListQuery, Store as _};

use crate::guards::account_of_payload;
use crate::orders::{NewOrder, OrderContent, find_order, list_orders, order_cart, watch_order};
use crate::products::find_product;
use crate::stock::{Claims, NoData, OrderLine, Product, Shop, Status, first as first_rows, is};

/// Returns the schema with its limits. Its page and its description are public,
/// like the document of the other routes.
pub fn graphql() -> GraphQl {
    GraphQl::new(gql::Schema::build(Query, Mutation, Subscription))
        .web_socket(true)
        .on_init(account_of_payload)
        .graphiql(true)
        .introspection(true)
}

/// The queries.
struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    /// One product.
    async fn product(&self, ctx: &gql::Context<'_>, id: u32) -> Result<Option<Product>, ApiError> {
        let shop = shop(ctx)?;
        Ok(Some(find_product(&shop, id).await?))
    }

    /// Products sorted by id, after the id `after` if it is set.
    #[graphql(complexity = "list_complexity(first, child_complexity)")]
    async fn products(
        &self,
        ctx: &gql::Context<'_>,
        #[graphql(default = 10, validator(minimum = 1, maximum = 100))] first: u32,
        after: Option<u32>,
        category: Option<String>,
    ) -> Result<Vec<Product>, ApiError> {
        let filters = category.into_iter().map(|category| is("category", category)).collect();
        let after = after.map(|id| vec![json!(id)]);
        let query = ListQuery { filters, after, ..first_rows(first as usize) };
        let page = shop(ctx)?.products.list(&query).await.map_err(NoData::from)?;
        Ok(page.items.into_iter().map(|it| it.value).collect())
    }

    /// One order. Its buyer, clerks and admins may read it.
    async fn order(
        &self,
        ctx: &gql::Context<'_>,
        id: u32,
    ) -> Result<Option<OrderContent>, ApiError> {
        let shop = shop(ctx)?;
        Ok(Some(find_order(&shop, &user(ctx)?, id).await?.into()))
    }

    /// The orders of the user, sorted by id.
    #[graphql(complexity = "list_complexity(first, child_complexity)")]
    async fn orders(
        &self,
        ctx: &gql::Context<'_>,
        #[graphql(default = 10, validator(minimum = 1, maximum = 100))] first: u32,
        after: Option<u32>,
    ) -> Result<Vec<OrderContent>, ApiError> {
        let after = after.map(|id| vec![json!(id)]);
        let query = ListQuery { after, ..first_rows(first as usize) };
        let shop = shop(ctx)?;
        let orders = list_orders(&shop, &user(ctx)?, query).await?;
        Ok(orders.into_iter().map(OrderContent::from).collect())
    }
}

/// The mutations.
struct Mutation;

#[gql::Object(crate = "gql")]
impl Mutation {
    /// Creates an order from a cart of the user and deletes the cart.
    async fn check_out(&self, ctx: &gql::Context<'_>, cart: u32) -> Result<NewOrder, ApiError> {
        let shop = shop(ctx)?;
        Ok(order_cart(&shop, &user(ctx)?, cart).await?)
    }
}

/// The subscriptions.
struct Subscription;

#[gql::Subscription(crate = "gql")]
impl Subscription {
    /// The current status of an order, and each change until the order is
    /// shipped.
    async fn order_status(
        &self,
        ctx: &gql::Context<'_>,
        id: u32,
    ) -> Result<impl Stream<Item = Status> + use<>, ApiError> {
        Ok(watch_order(shop(ctx)?, &user(ctx)?, id).await?)
    }
}

#[gql::ComplexObject(crate = "gql")]
impl OrderLine {
    /// The total price in cents: a `Float`, because an `Int` has 32 bits.
    async fn cents(&self) -> f64 {
        self.cents.into()
    }
}

fn shop(ctx: &gql::Context<'_>) -> Result<Arc<Shop>, ApiError> {
    caller(ctx)?.state()
}

/// Returns the user, or a 401 without one.
fn user(ctx: &gql::Context<'_>) -> Result<Claims, ApiError> {
    caller(ctx)?.user_as()
}

fn caller<'c>(ctx: &gql::Context<'c>) -> Result<&'c RequestContext, ApiError> {
    ctx.data::<RequestContext>().map_err(|error| ApiError::new(500, error.message))
}
