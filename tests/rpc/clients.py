"""Calls the methods of `examples/rpc.rs` by jsonrpclib-pelix."""

import os

import jsonrpclib
from jsonrpclib.jsonrpc import MultiCall, ProtocolError, TransportError

server = jsonrpclib.ServerProxy(os.environ["URL"])
assert server.subtract(42, 23) == 19
assert server.subtract(minuend=42, subtrahend=23) == 19
assert server.get_data() == ["hello", 5]
assert server.tasks.add(title="tea") == {"id": 1, "title": "tea"}

# It takes every status but 200 for an error, also the 204 of a notification, which
# has run by then, and its connection is of no use afterwards.
try:
    jsonrpclib.ServerProxy(os.environ["URL"])._notify.sum(1, 2)
    raise AssertionError("204 is no error any more: say so in the guide")
except TransportError as error:
    assert error.args[1] == 204


def code(call):
    try:
        call()
    except ProtocolError as error:
        return error.args[0][0]
    raise AssertionError("it is no error")


assert code(lambda: server.unknown()) == -32601
assert code(lambda: server.tasks.add(title="")) == -32602
assert code(lambda: server.tasks.clear()) == -32001
assert code(lambda: server.fails()) == -32603

batch = MultiCall(server)
batch.sum(1, 2)
batch._notify.sum(3)
batch.subtract(9, 4)
assert list(batch()) == [3, 5]
print("jsonrpclib-pelix understands every answer")
