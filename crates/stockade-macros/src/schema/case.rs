//! The cases of serde's `rename_all`.

/// A case of `rename_all`, by its name in serde.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Case {
    #[default]
    AsWritten,
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    /// Returns the case for a name. An unknown name leaves names unchanged,
    /// because serde reports it.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => Self::AsWritten,
        }
    }

    /// Converts a field name from snake case.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::AsWritten | Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => pascal(name),
            Self::Camel => lower_first(&pascal(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// Converts a variant name from Pascal case.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            Self::AsWritten | Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => lower_first(name),
            Self::Snake => snake(name),
            Self::ScreamingSnake => snake(name).to_ascii_uppercase(),
            Self::Kebab => snake(name).replace('_', "-"),
            Self::ScreamingKebab => snake(name).to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn pascal(name: &str) -> String {
    let mut pascal = String::new();
    let mut capital = true;
    for char in name.chars() {
        if char == '_' {
            capital = true;
        } else if std::mem::take(&mut capital) {
            pascal.push(char.to_ascii_uppercase());
        } else {
            pascal.push(char);
        }
    }
    pascal
}

fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + chars.as_str(),
        None => String::new(),
    }
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (index, char) in name.char_indices() {
        if index > 0 && char.is_uppercase() {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_serde() {
        for (case, field, variant) in [
            ("lowercase", "user_id", "userid"),
            ("UPPERCASE", "USER_ID", "USERID"),
            ("PascalCase", "UserId", "UserId"),
            ("camelCase", "userId", "userId"),
            ("snake_case", "user_id", "user_id"),
            ("SCREAMING_SNAKE_CASE", "USER_ID", "USER_ID"),
            ("kebab-case", "user-id", "user-id"),
            ("SCREAMING-KEBAB-CASE", "USER-ID", "USER-ID"),
        ] {
            assert_eq!(Case::of(case).field("user_id"), field, "{case}");
            assert_eq!(Case::of(case).variant("UserId"), variant, "{case}");
        }
    }
}
