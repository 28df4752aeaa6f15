//! [`Errors`]: collects all errors in the input of a macro and reports them at
//! once.

use proc_macro2::{Span, TokenStream};

/// The errors found so far.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    list: Vec<syn::Error>,
}

impl Errors {
    /// Adds an error at `span`.
    pub(crate) fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.list.push(syn::Error::new(span, message));
    }

    /// Adds a parser error.
    pub(crate) fn keep(&mut self, error: syn::Error) {
        self.list.extend(error);
    }

    /// Returns true if there are no errors.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Creates a `compile_error!` for each error, in source order.
    pub(crate) fn into_tokens(mut self) -> TokenStream {
        self.list.sort_by_key(|error| {
            let start = error.span().start();
            (start.line, start.column)
        });
        self.list.iter().map(syn::Error::to_compile_error).collect()
    }

    /// Returns the messages, each with its line and column.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        let mut places: Vec<_> = self
            .list
            .iter()
            .map(|error| {
                let start = error.span().start();
                (start.line, start.column, error.to_string())
            })
            .collect();
        places.sort();
        places.into_iter().map(|(line, column, text)| format!("{line}:{column} {text}")).collect()
    }
}

/// Returns `, first on line 12`, or an empty string if the line is unknown.
pub(crate) fn first_at(span: Span) -> String {
    match span.start().line {
        0 => String::new(),
        line => format!(", first on line {line}"),
    }
}
