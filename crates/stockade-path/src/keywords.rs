//! The table of schema keywords.

/// Calls `$callback!` with the schema keywords and with the pairs of related
/// bounds.
///
/// This is the only list of the keywords. It generates the check of a schema,
/// the simple methods of `Rule`, the keywords of `#[derive(Schema)]`, and the
/// table in its documentation. It is in this crate because this is the only
/// crate that the macros and the validation share.
///
/// A row is:
///
/// ```text
/// /// Documentation of the method.
/// "name": Kind [CLASS PLACE] flags => method(argument: its type) = value;
/// ```
///
/// - `Kind` is the kind of the value: a variant of `Kind` in the validation, or
///   one of these. `Flag` is a boolean. `Format` and `TypeName` are names that
///   the derive supports. `Items` is a schema that the derive writes as
///   keywords. `Rule` is a schema that the derive reads as an expression.
///   `Examples` is a list that the derive reads value by value.
/// - `CLASS` is the type of the values to which the keyword applies. `PLACE` is
///   the position in which the derive accepts the keyword. The derive does not
///   support a keyword without these brackets.
/// - `ours`: JSON Schema does not have the keyword.
/// - `note`: the keyword only affects documents and checks nothing.
/// - `reserved`: a field map cannot have a field of this name, unless
///   `Schema::fields` reads it.
/// - `streams`: the typed reader checks the keyword while it reads an array or
///   an object. It leaves all other keywords of arrays and objects to the check
///   of parsed data.
/// - `method` is the name in the derive. If a keyword without `(…) = …` has a
///   method, the method is in `rule.rs`.
///
/// The keywords have the order of the specification. The types, the classes and
/// the places are resolved in the crate of the callback.
///
/// A pair is `"lower" <= "upper" for CLASS;`, or `<` if the bounds must differ.
/// The two keywords limit the same quantity only for values of this class.
#[doc(hidden)]
#[macro_export]
macro_rules! __keywords {
    ($callback:ident! $(($($context:tt)*))?) => {
        $callback! {
            ($($($context)*)?)
            keywords {
                "type": TypeName [ANY EVERYWHERE] => kind;

                /// Requires the property to be present, and to be neither null
                /// nor an empty string.
                "required": Required [ANY FIELDS] => required() = true;

                "enum": List [ANY EVERYWHERE] => values;

                /// Requires this value. Named `const` in the specification.
                #[doc(alias = "const")]
                "const": Any [ANY EVERYWHERE] => constant(value: impl Into<Value>) = value;

                /// Requires that the text contains a match of this regular
                /// expression.
                ///
                /// Patterns have the syntax and meaning of JavaScript
                /// (ECMA-262) with the flag `u`, as JSON Schema requires: `\d`,
                /// `\w` and `\b` match only ASCII, and `\p{L}` matches any
                /// letter. Some Rust syntax is translated for documents: `\A`,
                /// `\z`, `(?P<name>…)`, `(?i)` and `(?s)`, `\x{…}`, `\pL`.
                /// Other syntax, such as `a++`, `(?x)` and `[[:alpha:]]`, is a
                /// configuration error.
                ///
                /// Most patterns take linear time. Back references, and
                /// look-around with hundreds of alternatives, have a step limit
                /// that grows with the length of the text. A text that reaches
                /// the limit fails with the rule `patternLimit` instead of
                /// `pattern`.
                "pattern": Text [TEXT EVERYWHERE] => pattern(pattern: &str) = pattern;

                /// Requires at least this many Unicode code points.
                "minLength": Count [TEXT EVERYWHERE] => min_length(length: usize) = length;

                /// Allows at most this many Unicode code points.
                "maxLength": Count [TEXT EVERYWHERE] => max_length(length: usize) = length;

                /// Requires a number of at least `bound`.
                "minimum": Number [NUMBER EVERYWHERE] => minimum(bound: impl Into<Value>) = bound;

                /// Requires a number of at most `bound`.
                "maximum": Number [NUMBER EVERYWHERE] => maximum(bound: impl Into<Value>) = bound;

                /// Requires a number greater than `bound`.
                "exclusiveMinimum": Number [NUMBER EVERYWHERE]
                    => exclusive_minimum(bound: impl Into<Value>) = bound;

                /// Requires a number less than `bound`.
                "exclusiveMaximum": Number [NUMBER EVERYWHERE]
                    => exclusive_maximum(bound: impl Into<Value>) = bound;

                /// Requires a multiple of `factor`, which must be above 0.
                /// Decimal fractions are exact: 0.3 is a multiple of 0.1.
                "multipleOf": Number [NUMBER EVERYWHERE]
                    => multiple_of(factor: impl Into<Value>) = factor;

                /// Requires at least `bound` for the number, the length of the string, or
                /// the count of the array.
                "min": Number [SIZED EVERYWHERE] ours streams
                    => min(bound: impl Into<Value>) = bound;

                /// Allows at most `bound` for the number, the length of the string, or the
                /// count of the array.
                "max": Number [SIZED EVERYWHERE] ours streams
                    => max(bound: impl Into<Value>) = bound;

                "items": Items [LIST EVERYWHERE] streams => items;

                /// Requires at least this many elements.
                "minItems": Count [LIST EVERYWHERE] streams => min_items(count: usize) = count;

                /// Allows at most this many elements.
                "maxItems": Count [LIST EVERYWHERE] streams => max_items(count: usize) = count;

                /// Requires that no two elements are equal.
                "uniqueItems": Flag [LIST EVERYWHERE] => unique_items() = true;

                "prefixItems": Rules reserved streams => prefix_items;

                "contains": Rule [LIST EVERYWHERE] reserved streams => contains;

                /// Requires at least this many elements that match the rule of
                /// [`contains`](Self::contains). Default: 1.
                "minContains": Count [LIST EVERYWHERE] reserved streams
                    => min_contains(count: usize) = count;

                /// Allows at most this many elements that match the rule of
                /// [`contains`](Self::contains).
                "maxContains": Count [LIST EVERYWHERE] reserved streams
                    => max_contains(count: usize) = count;

                "unevaluatedItems": Schema reserved streams => unevaluated_items;

                /// Requires at least this many keys.
                "minProperties": Count [MAP EVERYWHERE] streams
                    => min_properties(count: usize) = count;

                /// Allows at most this many keys.
                "maxProperties": Count [MAP EVERYWHERE] streams
                    => max_properties(count: usize) = count;

                "properties": Schemas streams => properties;

                "additionalProperties": Schema [MAP EVERYWHERE] streams => additional_properties;

                /// Limits the content of a `multipart/form-data` part, in
                /// bytes. Larger content gets 413.
                "maxBytes": Count [ANY FIELDS] ours streams note => max_bytes(bytes: usize) = bytes;

                /// Limits the media types of a file in `multipart/form-data`:
                /// `image/png`, or `image/*` for all images. The client
                /// declares the media type, so the content may be something
                /// else.
                "mediaTypes": List [ANY FIELDS] ours streams note => media_types;

                /// Sets the character that separates the elements of a list in
                /// a query string: `,`, `|` or a space.
                ///
                /// If the separator is `","`, both `?ids=1,2` and
                /// `?ids=1&ids=2` have two elements. The text is split before
                /// it is decoded, so `%2C` stays in an element. An empty value
                /// is an empty list. Bodies are not affected. Documents show
                /// the parameter with the style `form`, `pipeDelimited` or
                /// `spaceDelimited`, without `explode` (OpenAPI 3.1, section
                /// 4.8.12.3).
                "separator": Text [LIST FIELDS] ours streams note
                    => separator(separator: &str) = separator;

                /// Sets the style of an object in a query string. The only
                /// supported style is `deepObject`.
                ///
                /// It reads `?filter[state]=open` as the object `filter` with
                /// the property `state`. The properties must be strings,
                /// numbers or booleans, because OpenAPI does not define a
                /// notation for nested lists and objects (OpenAPI 3.1, section
                /// 4.8.12.3). Bodies are not affected.
                "style": Text [MAP FIELDS] ours streams note => style(style: &str) = style;
                "patternProperties": Schemas reserved streams => pattern_properties;

                "propertyNames": Rule [MAP EVERYWHERE] reserved streams => keys;

                "dependentRequired": NameLists reserved streams => dependent_required;

                "dependentSchemas": Schemas reserved streams => dependent_schemas;

                "unevaluatedProperties": Schema reserved streams => unevaluated_properties;

                "allOf": Rules [ANY EVERYWHERE] reserved => all_of;

                "anyOf": Rules [ANY EVERYWHERE] reserved => any_of;

                "oneOf": Rules [ANY EVERYWHERE] reserved => one_of;

                "not": Rule [ANY EVERYWHERE] reserved => not;

                "if": Rule reserved => if_then;

                "then": Rule reserved => if_then;

                "else": Rule reserved => if_then_else;

                "$ref": Text reserved => reference;

                "$defs": Schemas reserved => definitions;

                "definitions": Schemas reserved => definitions;

                "$anchor": Text reserved => anchor;

                "$dynamicAnchor": Text reserved => anchor;

                /// Allows null. Nothing else is checked for null.
                "nullable": Flag [ANY PARTS] ours => nullable() = true;

                /// Requires text in this format.
                "format": Format [TEXT EVERYWHERE] => format(format: Format) = format.name();

                "custom": Function [ANY EVERYWHERE] ours => custom;

                /// Replaces the default messages of this rule.
                "message": Text [ANY EVERYWHERE] ours
                    => message(message: impl Into<String>) = message.into();

                /// Removes white space at both ends of a string before
                /// validation.
                "trim": Flag [TEXT EVERYWHERE] ours => trim() = true;

                "transform": Function [ANY EVERYWHERE] ours => transform;

                "default": Any [ANY FIELDS] => default;

                /// Sets a name for readers.
                "title": Text [ANY WORDS] note => title(title: impl Into<String>) = title.into();

                /// Sets a description for readers.
                "description": Text [ANY WORDS] note
                    => description(description: impl Into<String>) = description.into();

                "$schema": Text note => schema;

                "contentEncoding": Text note => content_encoding;

                "contentMediaType": Text note => content_media_type;

                "contentSchema": Schema note => content_schema;

                /// Sets the name that `$ref` uses in documents.
                "$id": Text note => id(id: impl Into<String>) = id.into();

                /// Sets a remark for maintainers of the schema.
                "$comment": Text note => comment(comment: impl Into<String>) = comment.into();

                "examples": Examples [ANY WORDS] note => example;

                /// Marks the value as deprecated.
                "deprecated": Flag [ANY WORDS] note => deprecated() = true;

                /// Marks the value as `readOnly`: clients receive it and do not
                /// send it.
                ///
                /// Validation accepts such a value and does not remove it, so a
                /// route with `Body<T>` receives the value if a client sends
                /// it. For such routes, the mark only affects documents.
                /// Resources of `stockade-rest` and methods of `stockade-rpc`
                /// ignore such values in their inputs, at every depth.
                /// `stockade-graphql` reports an input that accepts a read-only
                /// value.
                "readOnly": Flag [ANY FIELDS] note => read_only() = true;

                /// Marks the value as `writeOnly`: clients send it and do not
                /// receive it.
                ///
                /// A route that returns `Json<T>` sends such a value like any
                /// other value. For such routes, the mark only affects
                /// documents, like [`read_only`](Self::read_only). Resources of
                /// `stockade-rest` and methods of `stockade-rpc` remove such
                /// values from their responses, at every depth.
                /// `stockade-graphql` reports an object that shows a write-only
                /// value. The schemas of responses omit a field that serde
                /// never writes.
                "writeOnly": Flag [ANY FIELDS] note => write_only() = true;
            }
            pairs {
                "minLength" <= "maxLength" for ANY;
                "minimum" <= "maximum" for ANY;
                "exclusiveMinimum" < "exclusiveMaximum" for ANY;
                "minimum" < "exclusiveMaximum" for ANY;
                "exclusiveMinimum" < "maximum" for ANY;
                "min" <= "max" for ANY;
                "minItems" <= "maxItems" for ANY;
                "minProperties" <= "maxProperties" for ANY;
                // The meaning of `min` and `max` depends on the type.
                "min" <= "maximum" for NUMBER;
                "minimum" <= "max" for NUMBER;
                "min" < "exclusiveMaximum" for NUMBER;
                "exclusiveMinimum" < "max" for NUMBER;
                "min" <= "maxLength" for TEXT;
                "minLength" <= "max" for TEXT;
            }
        }
    };
}
