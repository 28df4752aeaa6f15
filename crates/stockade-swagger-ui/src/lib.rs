//! The files of Swagger UI, compressed with gzip, and the script that starts
//! it.
//!
//! The files are from npm's `swagger-ui-dist`, unchanged. `assets` contains
//! their license and notice.

/// The version of `swagger-ui-dist`.
pub const VERSION: &str = "5.35.0";

/// The script of Swagger UI, compressed with gzip.
pub const BUNDLE: &[u8] = include_bytes!("../assets/swagger-ui-bundle.js.gz");

/// The style sheet of Swagger UI, compressed with gzip.
pub const STYLE: &[u8] = include_bytes!("../assets/swagger-ui.css.gz");

/// The script that starts Swagger UI in the element `swagger-ui`. The attribute
/// `data-document` of the element contains the URL of the document.
pub const START: &str = include_str!("../assets/swagger-ui-start.js");

/// The licenses of Swagger UI and the libraries in its script.
pub const LICENSES: [&str; 3] = [
    include_str!("../assets/LICENSE"),
    include_str!("../assets/NOTICE"),
    include_str!("../assets/swagger-ui-bundle.js.LICENSE.txt"),
];
