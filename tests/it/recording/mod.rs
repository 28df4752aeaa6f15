//! The recording of a terminal in README and book: a misspelled method, from
//! the message of the compiler to `explain`. The output is real, without the
//! summary of cargo.

mod picture;
#[expect(dead_code, reason = "the picture does not show `main`")]
mod program;

use std::{env, fs};

use stockade::prelude::*;

use self::picture::{Line, picture};

/// The recording.
const PICTURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src/images/misspelled-route.svg");

/// The program with the misspelled method, and the recorded message of rustc.
const MISSPELLED: &str = include_str!("../../ui/cases/routes_misspelled.rs");
const MESSAGE: &str = include_str!("../../ui/cases/routes_misspelled.stderr");

/// Run `RECORDING=overwrite cargo test -p stockade-tests recording` to write the
/// file, then look at it.
#[tokio::test]
async fn the_recording_shows_the_real_output() {
    let drawn = picture(&lines().await);
    if env::var("RECORDING").is_ok_and(|wish| wish == "overwrite") {
        fs::write(PICTURE, drawn).unwrap();
        return;
    }
    let committed = fs::read_to_string(PICTURE).unwrap();
    let differing = committed.lines().zip(drawn.lines()).find(|(old, new)| old != new);
    assert!(
        committed == drawn,
        "the recording is not the committed one, first at {differing:?}; RECORDING=overwrite \
         writes it"
    );
}

#[test]
fn the_programs_differ_only_in_the_method() {
    let corrected = MISSPELLED.replace("PSOT", "POST");
    let program = include_str!("program.rs");
    assert!(corrected.lines().skip(1).eq(program.lines().skip(1)), "{corrected}");
    assert_eq!(MISSPELLED.matches("PSOT").count(), 1);
}

async fn lines() -> Vec<Line> {
    const COMMAND: &str = "cargo run -q -- explain POST /notes";
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let app = create_router(program::api(secret), RouterOptions::new()).build().unwrap();
    let args = COMMAND.split(' ').skip(3).map(str::to_owned);
    let explanation = app.command_output(args).await.unwrap().unwrap();
    let mut lines = vec![Line::Command(COMMAND)];
    lines.extend(output(MESSAGE, "cases/routes_misspelled.rs"));
    lines.push(Line::Command("sed -i s/PSOT/POST/ src/main.rs"));
    lines.push(Line::Command(COMMAND));
    lines.extend(output(&explanation, "tests/it/recording/program.rs"));
    lines
}

/// Returns the lines of an output, with the file as a user has it.
fn output(text: &str, file: &str) -> Vec<Line> {
    assert!(text.contains(file), "{text}");
    let text = text.replace(file, "src/main.rs");
    text.trim_end().lines().map(|line| Line::Output(line.to_owned())).collect()
}
