# The messages of the framework, with the parameters of each. $field is the name of the field.

required = Required field '{ $field }' is missing
required-value = Required value is missing
duplicate = Field '{ $field }' is there twice
additionalProperties = Unknown field '{ $field }'
type = Expected { $expected }, got { $got }
out-of-range = The { $kind } is out of range
enum = Must be one of: { $values }
const = Must be { $value }
false = Value is not allowed
custom = { $field } is invalid
minLength = String must be at least { $limit } characters
maxLength = String must be at most { $limit } characters
minimum = Number must be at least { $limit }
maximum = Number must be at most { $limit }
exclusiveMinimum = Number must be greater than { $limit }
exclusiveMaximum = Number must be less than { $limit }
minItems = Array must contain at least { $limit } items
maxItems = Array must contain at most { $limit } items
uniqueItems = Items must be unique
minProperties = Object must have at least { $limit } properties
maxProperties = Object must have at most { $limit } properties
depth = Value is nested more than { $limit } levels deep
pattern = Invalid format
patternLimit = Text cannot be checked: its pattern takes too many steps; send a shorter text
format = { $format ->
    [email] Invalid email format
    [uri] Invalid URI format
    [url] Invalid URL format
    [uuid] Invalid UUID format
    [phone] Invalid phone number format
    [credit-card] Invalid credit card number
    [ipv4] Invalid IPv4 address
    [ipv6] Invalid IPv6 address
   *[other] Invalid { $format }
}
email = Invalid email format
url = Invalid URL format
uuid = Invalid UUID format
phone = Invalid phone number format
credit-card = Invalid credit card number
date = Invalid date
