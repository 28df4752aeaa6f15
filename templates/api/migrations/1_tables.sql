{%- if auth != "none" -%}
CREATE TABLE users (
    name text PRIMARY KEY,
    password_hash text NOT NULL
){% if database == "sqlite" %} STRICT{% endif %};

{% endif -%}
CREATE TABLE notes (
{%- if database == "sqlite" %}
    id integer PRIMARY KEY AUTOINCREMENT,
{%- else %}
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
{%- endif %}
{%- if auth == "none" %}
    title text NOT NULL UNIQUE,
    text text NOT NULL
{%- else %}
    owner text NOT NULL REFERENCES users (name),
    title text NOT NULL,
    text text NOT NULL,
    UNIQUE (owner, title)
{%- endif %}
){% if database == "sqlite" %} STRICT{% endif %};
