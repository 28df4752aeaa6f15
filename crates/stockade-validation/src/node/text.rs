//! The keywords of texts: fields, compilation, check and export.

use std::ops::ControlFlow::{self, Continue};

use serde_json::{Map, Value};

use super::keywords::{Source, copy, text_of};
use super::limits::{Bound, Counts, Limit, Relation};
use super::violation::Violation;
use crate::canonical::CanonicalText;
use crate::format::Format;
use crate::pattern::{Pattern, Search};
use crate::suggest::did_you_mean;
use crate::text_form::TextForm;

/// Keywords for texts.
#[derive(Debug)]
pub(crate) struct TextRules {
    lengths: Counts,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Option<Format>,
    pub(crate) form: Option<TextForm>,
    pub(crate) canonical: Option<CanonicalText>,
}

const LENGTHS: &[Bound] = &[
    ("minLength", Relation::AtLeast),
    ("maxLength", Relation::AtMost),
    ("min", Relation::AtLeast),
    ("max", Relation::AtMost),
];

impl TextRules {
    /// Returns the rules of texts, if the keywords contain any.
    pub(crate) fn compile(
        source: &mut Source<'_>,
        form: Option<TextForm>,
        canonical: Option<CanonicalText>,
    ) -> Option<Box<Self>> {
        let Source { keywords, mistakes, .. } = source;
        let pattern = text_of(keywords, "pattern").and_then(|text| match Pattern::new(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                mistakes.push(("pattern", format!("invalid pattern {text:?}: {error}")));
                None
            }
        });
        let format = text_of(keywords, "format").and_then(|name| {
            let format = Format::from_name(name);
            if format.is_none() {
                let known = Format::ALL.iter().map(|format| format.name());
                let near = did_you_mean(name, known);
                mistakes.push(("format", format!("unknown format `{name}`{near}")));
            }
            // A number format does not constrain texts.
            format.filter(|format| !Limit::is_of_numbers(*format))
        });
        let limits = Limit::all(keywords, LENGTHS, ("String must be", " characters"));
        let rules = Self { lengths: Counts::new(limits), pattern, format, form, canonical };
        (!rules.is_empty()).then(|| Box::new(rules))
    }

    fn is_empty(&self) -> bool {
        let Self { lengths, pattern, format, form, canonical } = self;
        lengths.is_empty()
            && pattern.is_none()
            && format.is_none()
            && form.is_none()
            && canonical.is_none()
    }

    /// Checks a text.
    #[inline]
    pub(super) fn validate(
        &self,
        text: &str,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.lengths.validate_text(text, &mut no)?;
        if let Some(pattern) = &self.pattern {
            match pattern.search(text) {
                Search::Found => {}
                Search::Nothing => no(Violation::Rule("pattern", "Invalid format"))?,
                Search::GaveUp => no(Violation::PatternLimit)?,
            }
        }
        if let Some(format) = &self.format
            && !format.check(text)
        {
            no(Violation::Rule("format", format.message()))?;
        }
        if let Some(form) = &self.form
            && !(form.fits)(text)
        {
            no(Violation::Rule("format", form.message))?;
        }
        Continue(())
    }

    /// Writes the keywords of JSON Schema. The export adds `min`, `max` and `trim`.
    pub(crate) fn export(
        rules: Option<&Self>,
        keywords: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) {
        copy(keywords, &["minLength", "maxLength"], out);
        if let Some(pattern) = rules.and_then(|rules| rules.pattern.as_ref()) {
            out.insert("pattern".to_owned(), pattern.ecma().into());
        }
        if let Some(format) = text_of(keywords, "format") {
            let format = if format == Format::Url.name() { Format::Uri.name() } else { format };
            out.insert("format".to_owned(), format.into());
        } else if let Some(format) = rules.and_then(|rules| rules.form?.format) {
            out.insert("format".to_owned(), format.into());
        }
    }
}
