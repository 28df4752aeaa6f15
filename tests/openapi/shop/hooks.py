"""A cursor is one of an earlier answer.

It is text that the server has made, of the order of its list, and no schema says which:
a generated one gives way to the one that the server gives for the same list, if it has
more than a page.
"""

import os

import requests
import schemathesis

import clients


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.path == "/products" and "cursor" in (case.query or {}):
        query = {name: value for name, value in case.query.items() if name != "cursor"}
        # A client of its own, as `clients` gives one to each request.
        headers = {"X-Forwarded-For": f"11.{next(clients.NUMBERS) % 65_536 // 256}.0.1"}
        page = requests.get(os.environ["URL"] + case.path, params=query, headers=headers)
        following = page.json()["next"] if page.ok else None
        case.query = {**query, "cursor": following} if following else query
