# The messages of the framework, with the parameters of each. $field is the name of the field.

required = Required field '{ $field }' is missing
required-value = Required value is missing
duplicate = Duplicate field '{ $field }'
additionalProperties = Unknown field '{ $field }'
unevaluatedProperties = Unknown field '{ $field }'
dependentRequired = Field '{ $field }' is required if '{ $other }' is present
propertyNames = Invalid field name
type = Expected { $expected }, got { $got }
out-of-range = The { $kind } is out of range
enum = Must be one of: { $values }
const = Must be { $value }
false = Value is not allowed
not = Value is not allowed
anyOf = Value matches none of the alternatives
oneOf = Value matches none of the alternatives
oneOf-keys = Must have only one of: { $values }
oneOf-several = Value matches more than one of the alternatives
custom = { $field } is invalid
minLength = String must be at least { $limit } characters
maxLength = String must be at most { $limit } characters
minimum = Number must be at least { $limit }
maximum = Number must be at most { $limit }
exclusiveMinimum = Number must be greater than { $limit }
exclusiveMaximum = Number must be less than { $limit }
multipleOf = Number must be a multiple of { $factor }
minItems = Array must contain at least { $limit } items
maxItems = Array must contain at most { $limit } items
uniqueItems = Items must be unique
minContains = Array must contain at least { $limit } items that match `contains`
maxContains = Array must contain at most { $limit } items that match `contains`
unevaluatedItems = Item is not allowed
minProperties = Object must have at least { $limit } properties
maxProperties = Object must have at most { $limit } properties
depth = Value is nested more than { $limit } levels deep
schemaLimit = Value cannot be checked: its schema takes too many steps; send a smaller value
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
    [int32] Number must be a 32-bit integer
    [int64] Number must be a 64-bit integer
    [float] Number must fit in a 32-bit float
    [byte] Invalid base64
    [iri] Invalid IRI format
    [iri-reference] Invalid IRI reference
    [uri-reference] Invalid URI reference
    [uri-template] Invalid URI template
    [regex] Invalid regular expression
    [json-pointer] Invalid JSON pointer
    [relative-json-pointer] Invalid relative JSON pointer
   *[other] Invalid { $format }
}
email = Invalid email format
url = Invalid URL format
uuid = Invalid UUID format
phone = Invalid phone number format
credit-card = Invalid credit card number
date = Invalid date

# Files of typed forms.
one-file = Expected one file
mediaType = Expected one of { $values }, got { $got }

# Resources: lists, ids and JSON patches.
parameter = Unknown parameter
cursor = The cursor does not belong to this list
cursor-gone = The first item of this page no longer exists
filter-value = A filter must have a value
filters = A list must have at most { $limit } filters
sort = Lists cannot be sorted by "{ $name }"
sort-fields = An order must have at most { $limit } fields
invalid-id = Invalid value
id-form = An id must have its canonical form
id-path = A path cannot contain this id
id-length = An id must have at most { $limit } bytes
object = Must be an object
unique = { $field } is already in use
year = Year must be from 0001 to 9999
nul = Text must not contain U+0000
patch-list = A JSON patch must be a list
patch-operations = A patch must have at most { $limit } operations
patch-operation = Must be an operation of RFC 6902
patch-place = The item does not have this location
patch-depth = The item is nested too deeply
