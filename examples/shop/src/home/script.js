"use strict";
(() => {
  const log = document.getElementById("log");
  const buttons = [...document.querySelectorAll("button")];

  function say(text, request) {
    const item = document.createElement("li");
    item.append(text);
    if (request) {
      const code = document.createElement("code");
      code.textContent = request;
      item.append(" ", code);
    } else {
      item.className = "now";
    }
    log.append(item);
  }

  async function send(method, path, token, body, more) {
    const headers = { ...more };
    if (token) headers.authorization = `Bearer ${token}`;
    if (body) headers["content-type"] = "application/json";
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${(await response.json()).error}`);
    return response;
  }

  async function json(...request) {
    return (await send(...request)).json();
  }

  // Sends what must not happen twice. Where no answer comes, nobody knows if it was
  // carried out: with the same key the next attempt gets the answer of the first one.
  async function once(path, token) {
    const key = crypto.getRandomValues(new Uint32Array(4)).join("-");
    for (let left = 2; ; left -= 1) {
      try {
        return await json("POST", path, token, null, { "idempotency-key": `"${key}"` });
      } catch (error) {
        // `fetch` fails so when no answer comes.
        if (left === 0 || !(error instanceof TypeError)) throw error;
      }
    }
  }

  // A subscription of GraphQL, whose results are events. EventSource can neither POST nor
  // send a token, so they are read by hand.
  async function follow(response, order) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        // Other events are comments, and `complete` at the end.
        const line = event.split("\n").find((line) => line.startsWith("data: {"));
        if (!line) continue;
        const { data, errors } = JSON.parse(line.slice(6));
        if (errors) throw new Error(errors[0].message);
        say(`Order ${order} is ${data.orderStatus.toLowerCase()}.`);
      }
    }
  }

  async function order(product) {
    log.textContent = "";
    const name = crypto.getRandomValues(new Uint32Array(3)).join("-");
    const [email, password] = [`guest-${name}@example.org`, name];
    const user = await json("POST", "/users", null, { name: "Guest", email, password });
    say("An account", "POST /users");
    const { token } = await json("POST", "/login", null, { email, password });
    say("A token", "POST /login");
    const { cart } = await json("POST", "/carts", token);
    await send("POST", `/carts/${cart}/items`, token, { product });
    say("A cart with one piece", `POST /carts/${cart}/items`);
    const { order } = await once(`/carts/${cart}/checkout`, token);
    say("An order", `POST /carts/${cart}/checkout`);
    const query = "subscription ($id: Int!) { orderStatus(id: $id) }";
    const subscription = { query, variables: { id: order } };
    const events = await send("POST", "/graphql", token, subscription, {
      accept: "text/event-stream",
    });
    say("Its status over GraphQL", "POST /graphql");
    say("It changes when a clerk ships it", `POST /orders/${order}/ship`);
    // The events go on: who asked for them was known when they began.
    await send("DELETE", `/users/${user.id}`, token);
    follow(events, order).catch((error) => say(`The events have ended: ${error.message}`));
  }

  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      buttons.forEach((it) => { it.disabled = true; });
      try {
        await order(Number(button.value));
      } catch (error) {
        say(error.message);
      }
      buttons.forEach((it) => { it.disabled = false; });
      button.focus();
    });
  }
  document.getElementById("demo").hidden = false;
})();
