// urql with `graphql-ws`, for a page in a browser. It is bundled by esbuild, and gives
// a promise of what it has seen.
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient } from "graphql-ws";

const url = new URL(location.pathname, location.origin);
const socket = createClient({
  url: url.href.replace("http", "ws"),
  connectionParams: { token: "token-of-Eve" },
});
const forwardSubscription = ({ query, variables }) => ({
  subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
});
const client = new Client({
  url: url.href,
  preferGetMethod: false,
  fetchOptions: { headers: { authorization: "Bearer token-of-Eve" } },
  exchanges: [fetchExchange, subscriptionExchange({ forwardSubscription })],
});

const listeners = () => client.query("{ listeners }", {}).toPromise();

globalThis.seen = (async () => {
  const heard = new Promise((done) => {
    client.subscription("subscription { messages { author text } }", {}).subscribe(done);
  });
  while ((await listeners()).data.listeners === 0) {
    await new Promise((done) => setTimeout(done, 20));
  }
  await client.mutation("mutation { say(text: \"hello\") { text } }", {}).toPromise();
  const { author, text } = (await heard).data.messages;
  return `${author}: ${text}`;
})();
