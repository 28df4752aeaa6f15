//! Strings, numbers, and what `min` and `max` mean for each kind.

use std::fmt::Display;

use serde_json::Number;

use super::path::Path;
use super::{Run, is_above, is_below};
use crate::node::Node;
use crate::number::Num;

impl Run<'_, '_> {
    pub(super) fn text(&mut self, node: &Node, text: &str, path: &Path<'_>) {
        if let Some(rules) = &node.text {
            if let Some(least) = rules.min_length
                && is_shorter(text, least)
            {
                self.fail(node, path, "minLength", || at_least_characters(least));
            }
            if let Some(most) = rules.max_length
                && is_longer(text, most)
            {
                self.fail(node, path, "maxLength", || at_most_characters(most));
            }
        }
        if node.size.is_some() {
            self.size(
                node,
                whole(text.chars().count()),
                path,
                |bound| at_least_characters(bound),
                |bound| at_most_characters(bound),
            );
        }
        let Some(rules) = &node.text else {
            return;
        };
        if self.done {
            return;
        }
        if let Some(pattern) = &rules.pattern
            && !pattern.is_match(text)
        {
            self.fail(node, path, "pattern", || "Invalid format");
        }
        if let Some(format) = &rules.format
            && !format.check(text)
        {
            self.fail(node, path, "format", || format.message());
        }
    }

    pub(super) fn number(&mut self, node: &Node, number: &Number, path: &Path<'_>) {
        if node.number.is_none() && node.size.is_none() {
            return;
        }
        let num = Num::of(number);
        if let Some(rules) = &node.number {
            if let Some(bound) = is_below(num, rules.minimum.as_ref()) {
                self.fail(node, path, "minimum", || at_least(bound.shown()));
            }
            if let Some(bound) = is_above(num, rules.maximum.as_ref()) {
                self.fail(node, path, "maximum", || at_most(bound.shown()));
            }
            if let Some(bound) = &rules.exclusive_minimum
                && bound.seen_from(num).is_le()
            {
                self.fail(node, path, "exclusiveMinimum", || {
                    ["Number must be greater than ", bound.shown()].concat()
                });
            }
            if let Some(bound) = &rules.exclusive_maximum
                && bound.seen_from(num).is_ge()
            {
                self.fail(node, path, "exclusiveMaximum", || {
                    ["Number must be less than ", bound.shown()].concat()
                });
            }
        }
        self.size(node, num, path, at_least, at_most);
    }

    /// `min` and `max`, with the texts of the kind.
    pub(super) fn size(
        &mut self,
        node: &Node,
        size: Num,
        path: &Path<'_>,
        at_least: impl FnOnce(&str) -> String,
        at_most: impl FnOnce(&str) -> String,
    ) {
        let Some(bounds) = &node.size else {
            return;
        };
        if let Some(bound) = is_below(size, bounds.min.as_ref()) {
            self.fail(node, path, "min", || at_least(bound.shown()));
        }
        if let Some(bound) = is_above(size, bounds.max.as_ref()) {
            self.fail(node, path, "max", || at_most(bound.shown()));
        }
    }
}

/// A count as a number.
pub(super) fn whole(count: usize) -> Num {
    Num::Whole(count as i128)
}

/// Whether `text` has fewer than `least` code points, counted only if its
/// bytes, one to four for each, do not tell.
fn is_shorter(text: &str, least: usize) -> bool {
    text.len() < least || text.len() / 4 < least && text.chars().count() < least
}

/// Whether `text` has more than `most` code points.
fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && (text.len() / 4 > most || text.chars().count() > most)
}

fn at_least_characters(bound: impl Display) -> String {
    format!("String must be at least {bound} characters")
}

fn at_most_characters(bound: impl Display) -> String {
    format!("String must be at most {bound} characters")
}

fn at_least(bound: &str) -> String {
    ["Number must be at least ", bound].concat()
}

fn at_most(bound: &str) -> String {
    ["Number must be at most ", bound].concat()
}
