// urql with `graphql-ws` against the shop, for a page in a browser: the admin logs in, buys,
// and follows the order. It is bundled by esbuild; `shop` has the steps, each with a short
// text that comes of it.
import { Client, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient } from "graphql-ws";

const url = new URL("/graphql", location.origin).href;

/** Makes a client of a user, or of nobody. */
const connect = (authorization) => {
  const connectionParams = authorization ? { authorization } : {};
  const socketUrl = url.replace("http", "ws");
  const socket = createClient({ url: socketUrl, connectionParams, retryAttempts: 0 });
  const forwardSubscription = ({ query, variables }) => ({
    subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
  });
  const headers = authorization ? { authorization } : {};
  return new Client({
    url,
    preferGetMethod: false,
    fetchOptions: { headers },
    exchanges: [fetchExchange, subscriptionExchange({ forwardSubscription })],
  });
};

/** Returns the value that a POST is answered by, if any. */
const send = async (path, body, authorization) => {
  const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
  const request = { method: "POST", headers, body: JSON.stringify(body) };
  let response = await fetch(path, request);
  // A build that is not optimised may take too long for the hash of a password.
  while (response.status === 503) response = await fetch(path, request);
  if (!response.ok) throw new Error(`POST ${path}: ${response.status}`);
  const text = await response.text();
  return text && JSON.parse(text);
};

const CHECK_OUT = "mutation ($cart: Int!) { checkOut(cart: $cart) { order } }";
const STATUS = "subscription ($id: Int!) { orderStatus(id: $id) }";

const nobody = connect();
let admin;
let authorization;
let order;
let statuses;
let ended;

/** The error of an answer, or of the connection, in short. */
const failure = ({ error }) => {
  if (error.networkError) return `${error.networkError.code} ${error.networkError.reason}`;
  const { message, extensions } = error.graphQLErrors[0];
  return `${extensions.status} ${message}`;
};

globalThis.shop = {
  async query() {
    const { data } = await nobody.query("{ products(first: 1) { name priceCents } }", {}).toPromise();
    return `${data.products[0].name} ${data.products[0].priceCents}`;
  },
  async refused() {
    return failure(await nobody.mutation(CHECK_OUT, { cart: 1 }).toPromise());
  },
  async mutation(password) {
    const { token } = await send("/login", { email: "admin@example.org", password });
    authorization = `Bearer ${token}`;
    admin = connect(authorization);
    const { cart } = await send("/carts", {}, authorization);
    await send(`/carts/${cart}/items`, { product: 1, count: 2 }, authorization);
    const { data } = await admin.mutation(CHECK_OUT, { cart }).toPromise();
    ({ order } = data.checkOut);
    const query = "query ($id: Int!) { order(id: $id) { status lines { count cents } } }";
    const { status, lines } = (await admin.query(query, { id: order }).toPromise()).data.order;
    return `${status} ${lines[0].count} for ${lines[0].cents}`;
  },
  /** Follows the order, and returns its first status. */
  async subscription() {
    statuses = [];
    return new Promise((first) => {
      ended = new Promise((done) => {
        admin.subscription(STATUS, { id: order }).subscribe(({ data, error, hasNext }) => {
          if (error) return done(`${error}`);
          // The last result stands once more at the end.
          if (!hasNext) return done("and the end");
          statuses.push(data.orderStatus);
          first(data.orderStatus);
        });
      });
    });
  },
  /** Ships the order, and returns all that was heard until the end. */
  async shipped() {
    await send(`/orders/${order}/ship`, {}, authorization);
    const end = await ended;
    return [...statuses, end].join(" ");
  },
  async forbidden() {
    return new Promise((done) => {
      nobody.subscription(STATUS, { id: order }).subscribe((answer) => done(failure(answer)));
    });
  },
  async missing() {
    return new Promise((done) => {
      admin.subscription(STATUS, { id: 99 }).subscribe((answer) => done(failure(answer)));
    });
  },
};
