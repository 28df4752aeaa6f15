"""A cursor and a document of GraphQL are texts of a form that no schema of OpenAPI says.

A cursor is one of an earlier answer, text that the server has made, of the order of its
list: a generated one gives way to the one that the server gives for the same list, if it
has more than a page.

A document is made of the schema of GraphQL, which the server shows, in the place of any
text. What is wrong with the other members of a request stays wrong.
"""

import functools
import os

import graphql
import hypothesis_graphql
import requests
import schemathesis
from hypothesis import strategies

import clients


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.path == "/products" and "cursor" in (case.query or {}):
        query = {name: value for name, value in case.query.items() if name != "cursor"}
        page = ask("GET", case.path, params=query)
        following = page.json()["next"] if page.ok else None
        case.query = {**query, "cursor": following} if following else query


def ask(method, path, **what):
    # A client of its own, as `clients` gives one to each request.
    headers = {"X-Forwarded-For": f"11.{next(clients.NUMBERS) % 65_536 // 256}.0.1"}
    return requests.request(method, os.environ["URL"] + path, headers=headers, **what)


@functools.cache
def schema():
    answer = ask("POST", "/graphql", json={"query": graphql.get_introspection_query()})
    return graphql.build_client_schema(answer.json()["data"])


@schemathesis.hook
def flatmap_body(context, body):
    return with_document(context, body, hypothesis_graphql.from_schema, {})


@schemathesis.hook
def flatmap_query(context, query):
    # In an address, an object is its JSON.
    return with_document(context, query, hypothesis_graphql.queries, "{}")


def with_document(context, params, make, empty):
    is_text = isinstance(params, dict) and isinstance(params.get("query"), str)
    if context.operation.path != "/graphql" or not is_text:
        return strategies.just(params)
    # A made document has one operation without a name, and is known by no hash.
    params = {name: it for name, it in params.items() if not is_name(name, it)}
    for name in ("variables", "extensions"):
        if isinstance(params.get(name), type(empty)):
            params[name] = empty
    return make(schema()).map(lambda document: {**params, "query": document})


def is_name(name, value):
    return name in ("operationName", "documentId") and isinstance(value, str)
