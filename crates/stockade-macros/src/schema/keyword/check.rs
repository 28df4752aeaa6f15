//! Checks keywords against each other and against the field's type.

use proc_macro2::Ident;
use syn::{Expr, Lit, Type};

use super::table::{Entry, Pair, find, pairs};
use super::{Keyword, Value, literal};
use crate::errors::Errors;
use crate::schema::field_type::{class_of, element_of};

/// Reports lower bounds that exceed upper bounds.
pub(super) fn check_bounds(list: &[Keyword], errors: &mut Errors) {
    let bounds: Vec<(&Ident, &str, f64)> = list
        .iter()
        .filter_map(|Keyword { name, value }| {
            let Value::Expr(expr) = value else {
                return None;
            };
            Some((name, find(&name.to_string())?.in_schema, number(expr)?))
        })
        .collect();
    let bound = |wanted: &str| bounds.iter().find(|(_, in_schema, _)| *in_schema == wanted);
    for Pair { low, high, strict } in pairs() {
        let (Some((low, _, least)), Some((high, _, most))) = (bound(low), bound(high)) else {
            continue;
        };
        let relation = if *strict { "is not below" } else { "is above" };
        if least > most || *strict && least >= most {
            errors.push(low.span(), format!("`{low}` {least} {relation} `{high}` {most}"));
        }
    }
}

fn number(expr: &Expr) -> Option<f64> {
    let number: f64 = match literal(expr)? {
        Lit::Int(literal) => literal.base10_parse().ok()?,
        Lit::Float(literal) => literal.base10_parse().ok()?,
        _ => return None,
    };
    Some(if matches!(expr, Expr::Unary(_)) { -number } else { number })
}

/// Reports keywords that do not apply to this type.
pub(super) fn check_type(list: &[Keyword], ty: &Type, errors: &mut Errors) {
    let Some(class) = class_of(ty) else {
        return;
    };
    for keyword in list {
        let Some(Entry { name, classes, .. }) = find(&keyword.name.to_string()) else {
            continue;
        };
        if !classes.is_empty() && !classes.contains(&class) {
            let wanted: Vec<&str> = classes.iter().map(|class| class.plural()).collect();
            let message = format!(
                "`{name}` applies to {}, but the type is {}",
                wanted.join(" and "),
                class.singular()
            );
            errors.push(keyword.name.span(), message);
        }
        if let (Value::Keywords(inner), Some(element)) = (&keyword.value, element_of(ty))
            && inner.iter().all(|keyword| keyword.name != "kind")
        {
            check_type(inner, element, errors);
        }
    }
}
