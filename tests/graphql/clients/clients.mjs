// Calls the example `graphql_live` by the clients `graphql-ws` and `graphql-sse`.
import assert from "node:assert/strict";
import { createClient as createSse } from "graphql-sse";
import { createClient as createWs } from "graphql-ws";
import WebSocket from "ws";

const url = process.env.URL;
const socketUrl = url.replace("http", "ws");
const COUNT = "subscription { count }";
const MESSAGES = "subscription { messages { author text } }";
const SAY = "mutation ($text: String!) { say(text: $text) { text } }";

/** Makes a client of WebSockets, and lists the codes with which its sockets end. */
const connect = (connectionParams, options) => {
  const codes = [];
  const on = { closed: (event) => codes.push(event.code) };
  const settings = { url: socketUrl, webSocketImpl: WebSocket, retryAttempts: 0, lazy: true };
  return { codes, client: createWs({ ...settings, connectionParams, on, ...options }) };
};

/** The first results of a subscription, which ends after them. */
const take = async (client, query, count) => {
  const results = [];
  for await (const result of client.iterate({ query })) {
    results.push(result.data);
    if (results.length === count) break;
  }
  return results;
};

const once = async (client, query, variables) => {
  for await (const result of client.iterate({ query, variables })) return result;
};

const listeners = async (client) => (await once(client, "{ listeners }")).data.listeners;

/** Waits until so many listen. */
const listening = async (client, count) => {
  for (let turn = 0; turn < 500; turn += 1) {
    if ((await listeners(client)) === count) return;
    await new Promise((done) => setTimeout(done, 10));
  }
  assert.fail(`not ${count} listeners`);
};

/** The error with which a subscription ends. */
const failure = (client, query) =>
  new Promise((done, wrong) =>
    client.subscribe({ query }, { next: wrong, error: done, complete: () => wrong("complete") }),
  );

const checks = {
  async "graphql-ws: query, mutation, subscription"() {
    const { client, codes } = connect({ token: "token-of-Ada" });
    assert.deepEqual(await take(client, COUNT, 3), [{ count: 1 }, { count: 2 }, { count: 3 }]);
    const heard = take(client, MESSAGES, 2);
    await listening(client, 1);
    assert.equal((await once(client, SAY, { text: "one" })).data.say.text, "one");
    await once(client, SAY, { text: "two" });
    const said = (text) => ({ messages: { author: "Ada", text } });
    assert.deepEqual(await heard, [said("one"), said("two")]);
    // The client has completed the subscription.
    await listening(client, 0);
    await client.dispose();
    assert.ok(codes.length > 0 && codes.every((code) => code === 1000), `${codes}`);
  },
  async "graphql-ws: errors"() {
    const { client } = connect({ token: "token-of-Ada" });
    const [error] = await failure(client, "subscription { nothing }");
    assert.match(error.message, /nothing/);
    const { errors } = await once(client, SAY, { text: "" });
    assert.equal(errors[0].path[0], "say");
    await client.dispose();
  },
  async "graphql-ws: a wrong token"() {
    const { client } = connect({ token: "wrong" });
    const closed = await failure(client, COUNT);
    assert.deepEqual([closed.code, closed.reason], [4403, "Forbidden"]);
  },
  async "graphql-ws: 50 operations, and one more"() {
    const { client } = connect({ token: "token-of-Ada" });
    const stops = [];
    let counted = 0;
    await new Promise((done) => {
      for (let index = 0; index < 50; index += 1) {
        let first = true;
        const next = () => {
          counted += first ? 1 : 0;
          first = false;
          if (counted === 50) done();
        };
        stops.push(client.subscribe({ query: COUNT }, { next, error() {}, complete() {} }));
      }
    });
    const [error] = await failure(client, COUNT);
    assert.match(error.message, /At most 50 operations/);
    stops.forEach((stop) => stop());
    assert.equal(await listeners(client), 0);
    await client.dispose();
  },
  async "graphql-ws: pings"() {
    let pongs = 0;
    const on = { pong: (received) => (pongs += received ? 1 : 0) };
    const { client } = connect({ token: "token-of-Ada" }, { keepAlive: 50, on });
    await take(client, COUNT, 30);
    assert.ok(pongs > 0, `${pongs} pongs`);
    await client.dispose();
  },
  async "graphql-sse: query, mutation, subscription"() {
    const headers = { authorization: "Bearer token-of-Bob" };
    const client = createSse({ url, headers, retryAttempts: 0 });
    assert.deepEqual(await take(client, COUNT, 2), [{ count: 1 }, { count: 2 }]);
    const heard = take(client, MESSAGES, 1);
    await listening(client, 1);
    await once(client, SAY, { text: "hello" });
    assert.deepEqual(await heard, [{ messages: { author: "Bob", text: "hello" } }]);
    await listening(client, 0);
    const { errors } = await once(client, "subscription { nothing }");
    assert.match(errors[0].message, /nothing/);
    client.dispose();
  },
};

for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log(`ok  ${name}`);
}
// What a client leaves open must not keep this alive.
process.exit(0);
