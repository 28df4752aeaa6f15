"""Each request comes from a client of its own, so that no limit refuses it."""

import itertools

import schemathesis

NUMBERS = itertools.count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(NUMBERS)
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    headers = {**(case.headers or {}), "X-Forwarded-For": address}
    # The tool puts an id of an earlier answer into a header as it is, a number.
    case.headers = {name: str(value) for name, value in headers.items()}
