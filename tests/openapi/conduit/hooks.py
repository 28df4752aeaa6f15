"""The token of a user who registers first; of another one, once that is gone."""

import itertools
import os

import requests
import schemathesis

import clients

NUMBERS = itertools.count(1)


@schemathesis.auth()
class Token:
    def get(self, case, context):
        name = f"ann{next(NUMBERS)}"
        user = {"username": name, "email": f"{name}@example.org", "password": "password1"}
        reply = requests.post(os.environ["URL"] + "/api/users", json={"user": user})
        return reply.json()["user"]["token"]

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Token {data}"}
