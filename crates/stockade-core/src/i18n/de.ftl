required = Das Pflichtfeld „{ $field }“ fehlt
required-value = Der Wert fehlt
duplicate = Das Feld „{ $field }“ kommt zweimal vor
additionalProperties = Unbekanntes Feld „{ $field }“
unevaluatedProperties = Unbekanntes Feld „{ $field }“
dependentRequired = Das Feld „{ $field }“ ist erforderlich, wenn „{ $other }“ vorhanden ist
propertyNames = Ungültiger Feldname
type = Erwartet: { $expected ->
    [string] Text
    [number] Zahl
    [integer] ganze Zahl
    [boolean] true oder false
    [array] Liste
    [object] Objekt
    [null] null
   *[other] { $expected }
}, erhalten: { $got ->
    [string] Text
    [number] Zahl
    [integer] ganze Zahl
    [boolean] true oder false
    [array] Liste
    [object] Objekt
    [null] null
   *[other] { $got }
}
out-of-range = Der Wert liegt außerhalb des erlaubten Bereichs
enum = Erlaubt sind nur: { $values }
const = Erlaubt ist nur { $value }
false = Der Wert ist nicht erlaubt
not = Der Wert ist nicht erlaubt
anyOf = Der Wert passt zu keiner der Möglichkeiten
oneOf = Der Wert passt zu keiner der Möglichkeiten
oneOf-keys = Erlaubt ist nur eines von: { $values }
oneOf-several = Der Wert passt zu mehr als einer der Möglichkeiten
custom = „{ $field }“ ist ungültig
minLength = Mindestens { $limit } Zeichen erforderlich
maxLength = Höchstens { $limit } Zeichen erlaubt
minimum = Die Zahl muss mindestens { $limit } sein
maximum = Die Zahl darf höchstens { $limit } sein
exclusiveMinimum = Die Zahl muss größer als { $limit } sein
exclusiveMaximum = Die Zahl muss kleiner als { $limit } sein
multipleOf = Die Zahl muss ein Vielfaches von { $factor } sein
minItems = { $limit ->
    [one] Mindestens ein Eintrag erforderlich
   *[other] Mindestens { $limit } Einträge erforderlich
}
maxItems = { $limit ->
    [one] Höchstens ein Eintrag erlaubt
   *[other] Höchstens { $limit } Einträge erlaubt
}
uniqueItems = Die Einträge müssen verschieden sein
minContains = { $limit ->
    [one] Mindestens ein passender Eintrag erforderlich
   *[other] Mindestens { $limit } passende Einträge erforderlich
}
maxContains = { $limit ->
    [one] Höchstens ein passender Eintrag erlaubt
   *[other] Höchstens { $limit } passende Einträge erlaubt
}
unevaluatedItems = Der Eintrag ist nicht erlaubt
minProperties = { $limit ->
    [one] Mindestens ein Feld erforderlich
   *[other] Mindestens { $limit } Felder erforderlich
}
maxProperties = { $limit ->
    [one] Höchstens ein Feld erlaubt
   *[other] Höchstens { $limit } Felder erlaubt
}
depth = Der Wert ist mehr als { $limit } Ebenen tief verschachtelt
schemaLimit = Der Wert kann nicht geprüft werden, weil sein Schema zu viele Schritte braucht; bitte einen kleineren Wert senden
pattern = Ungültiges Format
patternLimit = Der Text kann nicht geprüft werden, weil sein Muster zu viele Schritte braucht; bitte einen kürzeren Text senden
format = { $format ->
    [email] Ungültige E-Mail-Adresse
    [uri] Ungültige URI
    [url] Ungültige URL
    [uuid] Ungültige UUID
    [phone] Ungültige Telefonnummer
    [credit-card] Ungültige Kreditkartennummer
    [date] Ungültiges Datum
    [date-time] Ungültiges Datum mit Uhrzeit
    [time] Ungültige Uhrzeit
    [hostname] Ungültiger Hostname
    [ipv4] Ungültige IPv4-Adresse
    [ipv6] Ungültige IPv6-Adresse
    [int32] Die Zahl muss eine ganze Zahl mit 32 Bit sein
    [int64] Die Zahl muss eine ganze Zahl mit 64 Bit sein
    [float] Die Zahl muss in 32 Bit passen
    [byte] Ungültiges Base64
    [duration] Ungültige Dauer
    [iri] Ungültige IRI
    [iri-reference] Ungültiger IRI-Verweis
    [uri-reference] Ungültiger URI-Verweis
    [uri-template] Ungültige URI-Vorlage
    [regex] Ungültiger regulärer Ausdruck
    [json-pointer] Ungültiger JSON-Pointer
    [relative-json-pointer] Ungültiger relativer JSON-Pointer
   *[other] Ungültiges Format: { $format }
}
email = Ungültige E-Mail-Adresse
url = Ungültige URL
uuid = Ungültige UUID
phone = Ungültige Telefonnummer
credit-card = Ungültige Kreditkartennummer
date = Ungültiges Datum

one-file = Erwartet: eine einzige Datei
mediaType = Erlaubt sind nur: { $values }; erhalten: { $got }

parameter = Unbekannter Parameter „{ $field }“
cursor = Der Cursor gehört nicht zu dieser Liste
cursor-gone = Der Eintrag am Anfang dieser Seite wurde gelöscht
filter-value = Der Filter braucht einen Wert
filters = Höchstens { $limit } Filter erlaubt
sort = Die Liste kann nicht nach „{ $name }“ sortiert werden
sort-fields = Höchstens { $limit } Felder für die Sortierung erlaubt
invalid-id = Ungültiger Wert
id-form = Die Schreibweise der ID ist nicht die übliche
id-path = Diese ID kann in keinem Pfad vorkommen
id-length = Die ID darf höchstens { $limit } Bytes lang sein
object = Ein Objekt ist erforderlich
unique = „{ $field }“ ist schon vergeben
year = Das Jahr muss zwischen 0001 und 9999 liegen
nul = Der Text darf U+0000 nicht enthalten
patch-list = Ein JSON-Patch ist eine Liste
patch-operations = Höchstens { $limit } Operationen erlaubt
patch-operation = Eine Operation nach RFC 6902 ist erforderlich
patch-place = Diese Stelle gibt es nicht
patch-depth = Der Wert ist zu tief verschachtelt
