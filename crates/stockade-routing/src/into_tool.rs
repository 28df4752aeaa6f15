//! [`IntoTool`]: the values of the key `tool`.

use stockade_map::Tool;

/// A value of the key `tool` of a route: the description of the tool, or a
/// [`Tool`].
///
/// It needs the feature `mcp`.
#[cfg_attr(
    feature = "mcp",
    diagnostic::on_unimplemented(
        message = "`{Self}` cannot be a tool",
        label = "not a description or a `Tool`",
        note = "use a text, or `Tool::new(\"description\")` with options"
    )
)]
#[cfg_attr(
    not(feature = "mcp"),
    diagnostic::on_unimplemented(
        message = "the key `tool` needs the feature `mcp` of stockade",
        label = "the feature `mcp` is off",
        note = "add `features = [\"mcp\"]` to the dependency `stockade`"
    )
)]
pub trait IntoTool {
    /// Converts the value to a tool.
    #[doc(hidden)]
    fn into_tool(self) -> Tool;
}

#[cfg(feature = "mcp")]
mod values {
    use super::{IntoTool, Tool};

    impl IntoTool for Tool {
        fn into_tool(self) -> Tool {
            self
        }
    }

    impl IntoTool for &str {
        fn into_tool(self) -> Tool {
            Tool::new(self)
        }
    }

    impl IntoTool for String {
        fn into_tool(self) -> Tool {
            Tool::new(self)
        }
    }
}
