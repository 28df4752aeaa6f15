//! The files of Swagger UI, compressed with gzip, and the script that starts it.
//!
//! They are those of npm's `swagger-ui-dist`, unchanged; `assets` has their
//! licence and their notice.

/// The version of `swagger-ui-dist`.
pub const VERSION: &str = "5.35.0";

/// The script of Swagger UI, compressed with gzip.
pub const BUNDLE: &[u8] = include_bytes!("../assets/swagger-ui-bundle.js.gz");

/// The style sheet of Swagger UI, compressed with gzip.
pub const STYLE: &[u8] = include_bytes!("../assets/swagger-ui.css.gz");

/// The script that starts Swagger UI in the element `swagger-ui`, with the
/// document whose URL is in the attribute `data-document` of that element.
pub const START: &str = include_str!("../assets/swagger-ui-start.js");

/// The licence of Swagger UI, and that of the libraries in its script.
pub const LICENSES: [&str; 3] = [
    include_str!("../assets/LICENSE"),
    include_str!("../assets/NOTICE"),
    include_str!("../assets/swagger-ui-bundle.js.LICENSE.txt"),
];
