"""One user for all requests, but for those that change a password.

A new password ends all other tokens of its user: whoever changes one has an
account for that request alone, so that the others stay signed in.
"""

import itertools
import os

import requests
import schemathesis

import clients

NUMBERS = itertools.count(1)
CHANGE = {"method": "PUT", "path": "/api/user"}


class Token:
    """Registers a user, from an address of its own."""

    def get(self, case, context):
        number = next(NUMBERS)
        name = f"ann{number}"
        user = {"username": name, "email": f"{name}@example.org", "password": "password1"}
        headers = {"X-Forwarded-For": f"11.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"}
        reply = requests.post(
            os.environ["URL"] + "/api/users", json={"user": user}, headers=headers
        )
        reply.raise_for_status()
        return reply.json()["user"]["token"]

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Token {data}"}


@schemathesis.auth().skip_for(**CHANGE)
class Shared(Token):
    """The token of one user, kept for some minutes."""


@schemathesis.auth(refresh_interval=None).apply_to(**CHANGE)
class Fresh(Token):
    """A token for each request."""
