//! The generated programs: the same API of many modules, with stockade and with
//! axum.
//!
//! A module contains a body type with validation rules, a query type, and two
//! handlers: one shows an item, and one creates an item. All modules are in one
//! file, so an edit recompiles as much as possible.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library::Library;
use xtask::{cargo_command, root};

/// The framework that a program uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Framework {
    Stockade,
    Axum,
}

use Framework::{Axum, Stockade};

impl Framework {
    /// stockade, then the framework to compare with.
    pub const ALL: [Self; 2] = [Stockade, Axum];

    pub fn name(self) -> &'static str {
        match self {
            Stockade => "stockade",
            Axum => "axum",
        }
    }

    /// Returns the program with this number of modules. Programs with different
    /// `edit` values differ in one handler, without added or moved lines. The
    /// value 0 means no edit.
    pub fn source(self, modules: usize, edit: u32) -> String {
        let (head, module, routes, end) = match self {
            Stockade => (STOCKADE_HEAD, STOCKADE_MODULE, STOCKADE_ROUTES, STOCKADE_END),
            Axum => (AXUM_HEAD, AXUM_MODULE, AXUM_ROUTES, AXUM_END),
        };
        let mut source = head.to_owned();
        for number in 0..modules {
            let mut text = numbered(module, number);
            if edit > 0 && number == modules / 2 {
                text = text.replacen("Json((id,", &format!("Json((id + {edit},"), 1);
            }
            source += &text;
        }
        let (open, route) = routes;
        source += open;
        (0..modules).for_each(|number| source += &numbered(route, number));
        source + end
    }

    /// Returns the manifest. The versions come from the lock file next to it.
    fn manifest(self, library: &Library) -> String {
        let dependencies = match self {
            Stockade => format!(
                "stockade = {{ git = \"{}\", rev = \"{}\" }}\n\
                 tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n",
                library.url, library.revision
            ),
            Axum => "axum = \"0.8\"\n\
                     tokio = { version = \"1\", features = [\"macros\", \"net\", \"rt-multi-thread\"] }\n\
                     validator = { version = \"0.21\", features = [\"derive\"] }\n"
                .to_owned(),
        };
        format!(
            "[package]\nname = \"{PACKAGE}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [workspace]\n\n[dependencies]\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\n{dependencies}"
        )
    }
}

/// The package name of every program.
pub const PACKAGE: &str = "compile-cost";

/// Returns the text of a module with its number and its maximum name length.
fn numbered(text: &str, number: usize) -> String {
    text.replace("$n", &number.to_string()).replace("$longest", &(number % 90 + 10).to_string())
}

/// A generated program in a separate folder and workspace.
pub struct Program {
    pub framework: Framework,
    modules: usize,
    folder: PathBuf,
}

impl Program {
    /// Writes a program into a new folder below this one, with the versions of
    /// our lock file.
    pub fn write(
        framework: Framework,
        modules: usize,
        library: &Library,
        below: &Path,
    ) -> Result<Self, String> {
        let program = Self { framework, modules, folder: below.join(framework.name()) };
        let fault = |error: std::io::Error| format!("{}: {error}", program.folder.display());
        if program.folder.exists() {
            fs::remove_dir_all(&program.folder).map_err(fault)?;
        }
        fs::create_dir_all(program.folder.join("src")).map_err(fault)?;
        fs::write(program.folder.join("Cargo.toml"), framework.manifest(library)).map_err(fault)?;
        // Cargo removes unused packages and preserves the other versions.
        fs::copy(root().join("Cargo.lock"), program.folder.join("Cargo.lock")).map_err(fault)?;
        program.edit(0)?;
        Ok(program)
    }

    /// Rewrites the source; the same `edit` only updates the modification time.
    pub fn edit(&self, edit: u32) -> Result<(), String> {
        let file = self.folder.join("src/main.rs");
        fs::write(&file, self.framework.source(self.modules, edit))
            .map_err(|error| format!("{}: {error}", file.display()))
    }

    /// Returns a cargo command for the program, as its author would run it.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo_command();
        command.args(arguments).env("CARGO_TARGET_DIR", self.target());
        // CI may set this variable, but an author does not.
        command.env_remove("CARGO_INCREMENTAL").current_dir(&self.folder);
        command
    }

    /// Returns the path of its manifest.
    pub fn manifest_path(&self) -> String {
        self.folder.join("Cargo.toml").display().to_string()
    }

    /// Returns the target folder, which only this program uses.
    pub fn target(&self) -> PathBuf {
        self.folder.join("target")
    }
}

const STOCKADE_HEAD: &str = "\
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
";

const STOCKADE_MODULE: &str = "
#[derive(Deserialize, Serialize, Schema)]
struct Item$n {
    #[schema(min_length = 1, max_length = $longest)]
    name: String,
    #[schema(minimum = 0, maximum = 150)]
    age: u32,
    tags: Vec<String>,
}

#[derive(Deserialize, Schema)]
struct Page$n {
    page: Option<u32>,
    q: Option<String>,
}

async fn show$n(
    Path(id): Path<u64>,
    Query(query): Query<Page$n>,
) -> Json<(u64, Option<u32>, Option<String>)> {
    Json((id, query.page, query.q))
}

async fn make$n(Body(item): Body<Item$n>) -> Json<Item$n> {
    Json(item)
}
";

const STOCKADE_ROUTES: (&str, &str) = (
    "
#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let api = routes! {
",
    "        \"items$n\": { POST: make$n, \":id\": { GET: show$n } },\n",
);

const STOCKADE_END: &str = "    };
    create_router(api, RouterOptions::new()).listen(0).await?;
    Ok(())
}
";

const AXUM_HEAD: &str = "\
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use validator::Validate;
";

const AXUM_MODULE: &str = "
#[derive(Deserialize, Serialize, Validate)]
struct Item$n {
    #[validate(length(min = 1, max = $longest))]
    name: String,
    #[validate(range(min = 0, max = 150))]
    age: u32,
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct Page$n {
    page: Option<u32>,
    q: Option<String>,
}

async fn show$n(
    Path(id): Path<u64>,
    Query(query): Query<Page$n>,
) -> Json<(u64, Option<u32>, Option<String>)> {
    Json((id, query.page, query.q))
}

async fn make$n(Json(item): Json<Item$n>) -> Result<Json<Item$n>, (StatusCode, String)> {
    item.validate().map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    Ok(Json(item))
}
";

const AXUM_ROUTES: (&str, &str) = (
    "
#[tokio::main]
async fn main() {
    let app: Router = Router::new()
",
    "        .route(\"/items$n\", post(make$n))\n        .route(\"/items$n/{id}\", get(show$n))\n",
);

const AXUM_END: &str = "    ;
    let listener = tokio::net::TcpListener::bind(\"127.0.0.1:0\").await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_two_types_two_handlers_and_two_routes() {
        for framework in Framework::ALL {
            let source = framework.source(12, 0);
            let count = |text: &str| source.matches(text).count();
            assert_eq!((count("\nstruct "), count("async fn ")), (24, 25), "{framework:?}");
            for wanted in ["struct Item11 {", "Query<Page11>", "max_length = 21", "max = 21"] {
                let of_both = !wanted.starts_with("max");
                assert!(!of_both || source.contains(wanted), "{framework:?} {wanted}");
            }
            assert_eq!((count("make11"), count("show11")), (2, 2), "{framework:?}");
            assert!(!source.contains('$'), "{framework:?}");
        }
        assert!(Stockade.source(12, 0).contains("max_length = 21"));
        assert!(Axum.source(12, 0).contains("max = 21"));
    }

    #[test]
    fn an_edit_changes_one_line_and_shifts_none() {
        for framework in Framework::ALL {
            let [before, after] = [0, 7].map(|edit| framework.source(10, edit));
            let differing = before.lines().zip(after.lines()).filter(|(a, b)| a != b);
            let differing: Vec<_> = differing.collect();
            assert_eq!(before.lines().count(), after.lines().count());
            let expected =
                ("    Json((id, query.page, query.q))", "    Json((id + 7, query.page, query.q))");
            assert_eq!(differing, [expected], "{framework:?}");
        }
    }

    #[test]
    fn the_library_is_a_dependency_by_git() {
        let library = Library { url: "file:///tmp/a.git".to_owned(), revision: "0a1b".to_owned() };
        let manifest = Stockade.manifest(&library);
        let line = "stockade = { git = \"file:///tmp/a.git\", rev = \"0a1b\" }\n";
        assert!(manifest.contains(line), "{manifest}");
        assert!(!Axum.manifest(&library).contains("git"));
    }
}
