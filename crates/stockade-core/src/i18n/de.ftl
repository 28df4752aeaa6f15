required = Das Pflichtfeld „{ $field }“ fehlt
required-value = Der Wert fehlt
duplicate = Das Feld „{ $field }“ kommt zweimal vor
additionalProperties = Unbekanntes Feld „{ $field }“
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
custom = „{ $field }“ ist ungültig
minLength = Mindestens { $limit } Zeichen erforderlich
maxLength = Höchstens { $limit } Zeichen erlaubt
minimum = Die Zahl muss mindestens { $limit } sein
maximum = Die Zahl darf höchstens { $limit } sein
exclusiveMinimum = Die Zahl muss größer als { $limit } sein
exclusiveMaximum = Die Zahl muss kleiner als { $limit } sein
minItems = { $limit ->
    [one] Mindestens ein Eintrag erforderlich
   *[other] Mindestens { $limit } Einträge erforderlich
}
maxItems = { $limit ->
    [one] Höchstens ein Eintrag erlaubt
   *[other] Höchstens { $limit } Einträge erlaubt
}
uniqueItems = Die Einträge müssen verschieden sein
minProperties = { $limit ->
    [one] Mindestens ein Feld erforderlich
   *[other] Mindestens { $limit } Felder erforderlich
}
maxProperties = { $limit ->
    [one] Höchstens ein Feld erlaubt
   *[other] Höchstens { $limit } Felder erlaubt
}
depth = Der Wert ist mehr als { $limit } Ebenen tief verschachtelt
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
   *[other] Ungültiges Format: { $format }
}
email = Ungültige E-Mail-Adresse
url = Ungültige URL
uuid = Ungültige UUID
phone = Ungültige Telefonnummer
credit-card = Ungültige Kreditkartennummer
date = Ungültiges Datum
