//! Starts stockade in the mode from the argument.

use std::error::Error;

use bench_common::{Mode, mode};
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let server = bench_stockade::bind(Mode::from_args()).await?;
        mode::announce(server.local_addr());
        Ok(server.serve().await?)
    })
}
