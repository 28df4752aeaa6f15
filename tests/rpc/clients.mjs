// Calls the methods of `examples/rpc.rs` by jayson and by json-rpc-2.0.

import assert from "node:assert/strict";
import { once } from "node:events";
import { promisify } from "node:util";
import jayson from "jayson";
import { JSONRPCClient, JSONRPCErrorException } from "json-rpc-2.0";

const url = process.env.URL;

async function byJayson() {
  const client = jayson.Client.http(url);
  const request = promisify(client.request.bind(client));
  assert.equal((await request("subtract", [42, 23])).result, 19);
  assert.equal((await request("subtract", { subtrahend: 23, minuend: 42 })).result, 19);
  assert.deepEqual((await request("get_data", [])).result, ["hello", 5]);
  // A notification: null as the id.
  assert.equal(await request("sum", [1, 2], null), undefined);
  assert.equal((await request("unknown", [])).error.code, -32601);
  const invalid = await request("tasks.add", { title: "" });
  assert.equal(invalid.error.code, -32602);
  assert.equal(invalid.error.data.errors[0].field, "title");
  const batch = await request([
    client.request("sum", [1, 2], undefined, undefined),
    client.request("sum", [3], null, undefined),
    client.request("fails", [], undefined, undefined),
  ]);
  assert.equal(batch.length, 2);
  assert.equal(batch.find((answer) => "result" in answer).result, 3);
  assert.equal(batch.find((answer) => "error" in answer).error.code, -32603);
}

async function byJaysonOnSocket() {
  // The client of WebSockets of jayson is that of the package `ws`, which it brings.
  const client = jayson.Client.websocket({ url: url.replace("http", "ws") });
  await once(client.ws, "open");
  const request = promisify(client.request.bind(client));
  assert.equal((await request("subtract", [42, 23])).result, 19);
  assert.equal((await request("sum", [1, 2, 3])).result, 6);
  const ticks = [];
  client.ws.on("message", (text) => ticks.push(JSON.parse(text)));
  assert.equal((await request("tick", [])).result, "begun");
  while (ticks.filter((it) => it.method === "tick").length < 3) {
    await once(client.ws, "message");
  }
  client.ws.close();
}

async function byJsonRpc2() {
  const headers = { "content-type": "application/json", authorization: "Bearer token-of-ada" };
  const client = new JSONRPCClient(async (body) => {
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (response.status === 200) client.receive(await response.json());
    else if (response.status !== 204) throw new Error(`${response.status}`);
  });
  assert.equal(await client.request("subtract", [42, 23]), 19);
  assert.deepEqual(await client.request("tasks.clear"), { cleared_by: "Ada" });
  assert.deepEqual(await client.request("tasks.add", { title: " tea " }), { id: 1, title: "tea" });
  client.notify("sum", [1]);
  await assert.rejects(client.request("unknown"), (error) => error.code === -32601);
  await assert.rejects(client.request("subtract", [1, 2, 3]), (error) => {
    return error instanceof JSONRPCErrorException && error.code === -32602;
  });
  const batch = await client.requestAdvanced([
    { jsonrpc: "2.0", id: "a", method: "sum", params: [1, 2] },
    { jsonrpc: "2.0", id: "b", method: "unknown" },
  ]);
  assert.deepEqual(batch.map((answer) => answer.id), ["a", "b"]);
  assert.equal(batch[0].result, 3);
  const document = await client.request("rpc.discover");
  assert.ok(document.methods.some((method) => method.name === "tasks.add"));
}

await byJayson();
await byJaysonOnSocket();
await byJsonRpc2();
console.log("jayson and json-rpc-2.0 understand every answer");
