"""Requests of a branch have its host."""

import schemathesis

import clients


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.path.startswith("/desks"):
        case.headers = {**(case.headers or {}), "Host": "north.library.example"}
