// Calls the fixture with both TypeScript SDKs, in each of their modes.
import assert from "node:assert/strict";
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.env.URL);
const INFO = { name: "stockade-tests", version: "1.0.0" };
const modes = {
  "sdk 1.x": () => [new OldClient(INFO), new OldTransport(url)],
  "client 2.x, default": () => [new NewClient(INFO), new NewTransport(url)],
  "client 2.x, legacy": () => negotiating("legacy"),
  "client 2.x, auto": () => negotiating("auto"),
  "client 2.x, 2026-07-28": () => negotiating({ pin: "2026-07-28" }),
};

const negotiating = (mode) => [
  new NewClient(INFO, { versionNegotiation: { mode } }),
  new NewTransport(url),
];

/** Calls a tool; the SDKs have different signatures. */
const call = (client, name, args, options) =>
  client instanceof OldClient
    ? client.callTool({ name, arguments: args }, undefined, options)
    : client.callTool({ name, arguments: args }, options);

const textOf = (result) => result.content.map((part) => part.text).join("");

async function check(client) {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  assert.ok(names.includes("test_with_arguments"), `${names}`);
  assert.deepEqual(names, names.toSorted());
  const known = await call(client, "test_with_arguments", { name: "Ada", count: 2 });
  assert.equal(known.isError, false);
  assert.equal(textOf(known), "Hello Ada, 2 times");
  const image = await call(client, "test_image_content", {});
  assert.equal(image.content[0].mimeType, "image/png");
  const invalid = await call(client, "test_with_arguments", { name: "Ada", count: 10 });
  assert.equal(invalid.isError, true);
  assert.match(textOf(invalid), /^HTTP 400: /);
  const failing = await call(client, "test_error_handling", {});
  assert.equal(failing.isError, true);
  await assert.rejects(call(client, "unknown", {}), /Unknown tool: unknown/);
  const seen = [];
  const onprogress = (progress) => seen.push([progress.progress, progress.total]);
  const slow = await call(client, "test_tool_with_progress", {}, { onprogress });
  assert.equal(slow.isError, false);
  assert.deepEqual(seen, [[0, 100], [50, 100], [100, 100]]);
}

for (const [name, connect] of Object.entries(modes)) {
  const [client, transport] = connect();
  await client.connect(transport);
  await check(client);
  await client.close();
  console.log(`ok  ${name}`);
}
// An open connection must not keep the process alive.
process.exit(0);
