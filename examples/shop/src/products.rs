//! Products: a REST resource, and routes that a resource does not offer:
//! search, comparison, images and exports.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeError, Engine as _};
use serde::{Deserialize, Serialize};
use stockade::extract::{FileName, FileNameError, Multipart};
use stockade::http::HeaderMap;
use stockade::prelude::*;
use stockade::reply::ResponseWriter;
use stockade::rest::{
    Access, Filter, NewRow, Op, Operation, Resource, RowFilter, Store, StoreError, VersionCheck,
};

use crate::stock::{NoData, Product, ProductError, Shop, all};

/// Returns the resource: everyone may read products, page by page; clerks and
/// admins may change them.
pub fn resource(products: impl Store<Product>, signed_in: &Middleware) -> Resource<Product> {
    Resource::new("product", products)
        // Only an upload sets the size of the image.
        .server_fields(["id", "image_bytes"])
        .before(Operation::Create, async |_, mut draft: NewRow<Product>| {
            draft.set("image_bytes", 0);
            Ok(draft)
        })
        .filter("category")
        .filter_by("price_cents", [Op::Gte, Op::Lte])
        .sort(["price_cents", "name"])
        .count(true)
        .read(Access::public("everybody may look around"))
        .write(Access::role(signed_in, ["clerk", "admin"]))
}

#[derive(Deserialize, Schema)]
pub struct Search {
    #[serde(default)]
    #[schema(trim, max_length = 100)]
    pub q: String,
    #[serde(default)]
    #[schema(max_items = 10)]
    pub category: Vec<String>,
    #[schema(minimum = 1, default = 1)]
    pub page: usize,
}

/// One page of products, with the data to request other pages.
#[derive(Serialize, Schema)]
pub struct Page {
    pub page: usize,
    pub pages: usize,
    pub products: Vec<Product>,
}

impl Page {
    fn of(products: Vec<Product>, page: usize) -> Self {
        let pages = products.len().div_ceil(PAGE_SIZE);
        let skipped = (page - 1).saturating_mul(PAGE_SIZE);
        Self { page, pages, products: products.into_iter().skip(skipped).take(PAGE_SIZE).collect() }
    }
}

const PAGE_SIZE: usize = 10;

/// Compares each product of the categories. A large shop would use the
/// full-text search of its database.
pub async fn search_products(
    shop: State<Shop>,
    Query(search): Query<Search>,
) -> Result<Page, NoData> {
    let text = search.q.to_lowercase();
    let mut found = of_categories(&shop, search.category).await?;
    found.retain(|product| product.name.to_lowercase().contains(&text));
    Ok(Page::of(found, search.page))
}

/// Returns the products of any of these categories, or all products if the list
/// is empty.
async fn of_categories(shop: &Shop, of: Vec<String>) -> Result<Vec<Product>, StoreError> {
    let values: Vec<Value> = of.into_iter().map(Value::from).collect();
    let filter = Filter { field: "category".into(), op: Op::Eq, values };
    let filters = if filter.values.is_empty() { Vec::new() } else { vec![filter] };
    all(&shop.products, filters, |product| product.id).await
}

#[derive(Deserialize, Schema)]
pub struct Shelf {
    #[schema(max_length = 40)]
    pub category: Option<String>,
    #[schema(minimum = 1, default = 1)]
    pub page: usize,
}

/// Handles `/catalogue`, `/catalogue/tea` and `/catalogue/tea/2`.
pub async fn catalogue(shop: State<Shop>, Path(shelf): Path<Shelf>) -> Result<Page, NoData> {
    let found = of_categories(&shop, shelf.category.into_iter().collect()).await?;
    Ok(Page::of(found, shelf.page))
}

pub async fn find_product(shop: &Shop, id: u32) -> Result<Product, ProductError> {
    let product = shop.products.get(&id, &RowFilter::all()).await?;
    Ok(product.ok_or(ProductError::Missing(id))?.value)
}

#[derive(Serialize, Schema)]
pub struct Comparison {
    pub left_cents: u32,
    pub right_cents: u32,
    pub cheaper: Side,
}

#[derive(Schema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Left,
    Right,
}

/// Handles `/products/compare/1-3`: two parameters in one segment.
pub async fn compare_products(
    shop: State<Shop>,
    Path((left, right)): Path<(u32, u32)>,
) -> Result<Comparison, ProductError> {
    let left_cents = find_product(&shop, left).await?.price_cents;
    let right_cents = find_product(&shop, right).await?.price_cents;
    let cheaper = if left_cents <= right_cents { Side::Left } else { Side::Right };
    Ok(Comparison { left_cents, right_cents, cheaper })
}

#[derive(Debug, ApiError)]
pub enum UploadError {
    #[status(transparent)]
    Product(#[from] ProductError),
    #[status(400, "There is no image in the form")]
    Missing,
    #[status(transparent)]
    Name(#[from] FileNameError),
    #[status(transparent)]
    Form(#[from] ApiError),
}

/// Streams a multipart form with a file. The client's file name may be a path
/// to anywhere; a `FileName` never is.
pub async fn upload_image(
    shop: State<Shop>,
    Path(id): Path<u32>,
    mut form: Multipart,
) -> Result<Product, UploadError> {
    let mut image = None;
    while let Some(mut part) = form.next().await? {
        if part.name() == Some("image") {
            let name: FileName = part.file_name().unwrap_or_default().parse()?;
            let mut bytes = Vec::new();
            while let Some(chunk) = part.chunk().await? {
                bytes.extend_from_slice(&chunk);
            }
            image = Some((name, bytes));
        }
    }
    let (name, bytes) = image.ok_or(UploadError::Missing)?;
    Ok(keep_image(&shop, id, name, &bytes).await?)
}

/// Stores the image first, so a product never refers to a missing image.
async fn keep_image(
    shop: &Shop,
    id: u32,
    name: FileName,
    bytes: &[u8],
) -> Result<Product, ProductError> {
    find_product(shop, id).await?;
    let image = [("name", json!(name.to_string())), ("content", json!(STANDARD.encode(bytes)))];
    let kept = NewRow::new(image.clone());
    match shop.images.replace(&id, kept, VersionCheck::Any, &RowFilter::all()).await {
        Err(StoreError::Missing) => {
            let first = [("id", json!(id))].into_iter().chain(image);
            shop.images.create(NewRow::new(first)).await?;
        }
        kept => drop(kept?),
    }
    let size = NewRow::new([("image_bytes", json!(bytes.len()))]);
    match shop.products.replace(&id, size, VersionCheck::Any, &RowFilter::all()).await {
        Err(StoreError::Missing) => Err(ProductError::Missing(id)),
        product => Ok(product?.value),
    }
}

#[derive(Debug, ApiError)]
pub enum ImageError {
    #[status(404, "there is no image of product {0}")]
    Missing(u32),
    #[status(503, "the shop cannot access its data")]
    NoData(#[from] StoreError),
    #[status(500, "the image of product {0} cannot be read")]
    Broken(u32, #[source] DecodeError),
}

/// Handles `/products/5/image/cup.png`. Browsers never show it as a page,
/// whatever it contains.
pub async fn download_image(
    shop: State<Shop>,
    Path((id, name)): Path<(u32, FileName)>,
) -> Result<(HeaderMap, Bytes), ImageError> {
    let own = RowFilter::eq("name", name.to_string());
    let product = shop.products.get(&id, &RowFilter::all()).await?;
    let image = shop.images.get(&id, &own).await?.filter(|_| product.is_some());
    let image = image.ok_or(ImageError::Missing(id))?.value;
    let bytes = STANDARD.decode(image.content).map_err(|error| ImageError::Broken(id, error))?;
    let mut headers = HeaderMap::new();
    let attachment = header::HeaderValue::from_static("attachment");
    headers.insert(header::CONTENT_DISPOSITION, attachment);
    Ok((headers, bytes.into()))
}

/// Sends each product as it is read: the handler writes the response itself.
pub async fn export_products(
    shop: State<Shop>,
    Path(format): Path<String>,
    mut res: ResponseWriter,
) -> Result<(), ApiError> {
    let products = all(&shop.products, Vec::new(), |product| product.id).await;
    let products = products.map_err(NoData::from)?;
    if format == "json" {
        return res.json(&products).await;
    }
    res.header(header::CONTENT_TYPE, "text/csv; charset=utf-8")?;
    res.write("id,name,category,price_cents\n").await?;
    for Product { id, name, category, price_cents, .. } in products {
        res.write(format!("{id},{name},{category},{price_cents}\n")).await?;
    }
    res.end().await
}
