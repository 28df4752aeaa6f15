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

  async function send(method, path, token, body) {
    const headers = {};
    if (token) headers.authorization = `Bearer ${token}`;
    if (body) headers["content-type"] = "application/json";
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${(await response.json()).error}`);
    return response;
  }

  async function json(...request) {
    return (await send(...request)).json();
  }

  // EventSource cannot send a token, so the events are read by hand.
  async function follow(response, order) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data: "));
        if (data) say(`Order ${order} is ${JSON.parse(data.slice(6))}.`);
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
    const { order } = await json("POST", `/carts/${cart}/checkout`, token);
    say("An order", `POST /carts/${cart}/checkout`);
    const events = await send("GET", `/orders/${order}/events`, token);
    say("Its events, while a clerk ships it", `POST /orders/${order}/ship`);
    // The events go on: who asked for them was known when they began.
    await send("DELETE", `/users/${user.id}`, token);
    follow(events, order).catch(() => say("The events have ended."));
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
