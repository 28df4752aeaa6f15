//! Products: searched, shown, compared, changed and exported.

use serde::{Deserialize, Serialize};
use stockade::extract::{FileName, FileNameError, Multipart};
use stockade::http::HeaderMap;
use stockade::prelude::*;
use stockade::reply::{Created, ResponseWriter};

use super::stock::{NoProduct, Product, Shop};

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

/// One page of products, with what is needed to turn the page.
#[derive(Serialize, Reply, Schema)]
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

pub async fn search_products(shop: State<Shop>, Query(search): Query<Search>) -> Page {
    let text = search.q.to_lowercase();
    let stock = shop.stock.read().await;
    let found = stock.products.values().filter(|product| {
        product.name.to_lowercase().contains(&text)
            && (search.category.is_empty() || search.category.contains(&product.category))
    });
    Page::of(found.cloned().collect(), search.page)
}

#[derive(Deserialize, Schema)]
pub struct Shelf {
    #[schema(max_length = 40)]
    pub category: Option<String>,
    #[schema(minimum = 1, default = 1)]
    pub page: usize,
}

/// `/catalogue`, `/catalogue/tea`, `/catalogue/tea/2`.
pub async fn catalogue(shop: State<Shop>, Path(shelf): Path<Shelf>) -> Page {
    let stock = shop.stock.read().await;
    let wanted = |product: &&Product| {
        shelf.category.as_ref().is_none_or(|category| *category == product.category)
    };
    Page::of(stock.products.values().filter(wanted).cloned().collect(), shelf.page)
}

#[derive(Deserialize, Schema)]
pub struct NewProduct {
    #[schema(trim, required, max_length = 100)]
    pub name: String,
    #[schema(one_of = ["tea", "coffee", "crockery"])]
    pub category: String,
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub price_cents: u32,
}

/// Takes JSON or a form: the content type decides.
pub async fn create_product(shop: State<Shop>, Body(new): Body<NewProduct>) -> Created<Product> {
    let mut stock = shop.stock.write().await;
    Created::new(stock.add_product(new.name, new.category, new.price_cents))
}

pub async fn show_product(shop: State<Shop>, Path(id): Path<u32>) -> Result<Product, NoProduct> {
    shop.stock.read().await.products.get(&id).cloned().ok_or(NoProduct(id))
}

#[derive(Serialize, Reply, Schema)]
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

/// `/products/compare/1-3`: two parameters in one segment.
pub async fn compare_products(
    shop: State<Shop>,
    Path((left, right)): Path<(u32, u32)>,
) -> Result<Comparison, NoProduct> {
    let stock = shop.stock.read().await;
    let price = |id| stock.products.get(&id).map(|p| p.price_cents).ok_or(NoProduct(id));
    let (left_cents, right_cents) = (price(left)?, price(right)?);
    let cheaper = if left_cents <= right_cents { Side::Left } else { Side::Right };
    Ok(Comparison { left_cents, right_cents, cheaper })
}

#[derive(Debug, ApiError)]
pub enum UploadError {
    #[status(transparent)]
    Product(#[from] NoProduct),
    #[status(400, "There is no image in the form")]
    Missing,
    #[status(transparent)]
    Name(#[from] FileNameError),
    #[status(transparent)]
    Form(#[from] ApiError),
}

/// A form with a file, read part by part. What the client calls the file may be
/// a path to anywhere: a `FileName` is none.
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
    let mut stock = shop.stock.write().await;
    let product = stock.products.get_mut(&id).ok_or(NoProduct(id))?;
    product.image_bytes = bytes.len();
    let product = product.clone();
    stock.images.insert(id, (name, bytes.into()));
    Ok(product)
}

#[derive(Debug, ApiError)]
#[status(404, "there is no image of product {0}")]
pub struct NoImage(u32);

/// `/products/5/image/cup.png`: never shown as a page, whatever is in it.
pub async fn download_image(
    shop: State<Shop>,
    Path((id, name)): Path<(u32, FileName)>,
) -> Result<(HeaderMap, Bytes), NoImage> {
    let stock = shop.stock.read().await;
    let image = stock.images.get(&id).filter(|(known, _)| *known == name);
    let (_, bytes) = image.ok_or(NoImage(id))?;
    let mut headers = HeaderMap::new();
    let attachment = header::HeaderValue::from_static("attachment");
    headers.insert(header::CONTENT_DISPOSITION, attachment);
    Ok((headers, bytes.clone()))
}

/// Sends each product as it is read: the handler writes the response itself.
pub async fn export_products(
    shop: State<Shop>,
    Path(format): Path<String>,
    mut res: ResponseWriter,
) -> Result<(), ApiError> {
    let products: Vec<Product> = shop.stock.read().await.products.values().cloned().collect();
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
