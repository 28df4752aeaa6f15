//! Starts hyper in the mode from the argument.

use std::io;

use bench_common::{Mode, mode};
use tokio::runtime::Builder;

fn main() -> io::Result<()> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = bench_hyper::bind()?;
        mode::announce(listener.local_addr()?);
        bench_hyper::serve(listener, Mode::from_args()).await
    })
}
