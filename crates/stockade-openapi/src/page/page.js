// @ts-check
"use strict";

/**
 * @typedef {{n: string, i: string, r: boolean, e: string, v: unknown[] | null, s?: string}} Parameter
 * @typedef {{n: string, f: boolean, l?: boolean, e: unknown}} Field
 * @typedef {{t: string, e?: unknown, f?: Field[]}} Content
 * @typedef {{m: string, p: string, q?: Parameter[], b?: Content[], a?: string[]}} Call
 * @typedef {{k: string, n: string, t?: string}} Scheme
 * @typedef {{calls: Record<string, Call>, schemes: Record<string, Scheme>, servers: string[]}} Data
 * @typedef {{name: string, value: string, isFile: boolean}} Part
 * @typedef {{type: string, body: string | Blob | FormData | null, text: string, parts?: Part[]}} Entered
 * @typedef {{method: string, url: string, headers: [string, string][], body: string | Blob | FormData | null, text: string, parts: Part[]}} Sent
 */

(() => {
  /** @type {(id: string) => HTMLElement | null} */
  const byId = (id) => document.getElementById(id);

  /**
   * Creates an element. Texts are never markup.
   * @template {keyof HTMLElementTagNameMap} K
   * @param {K} name
   * @param {Record<string, string>} [attributes]
   * @param {...(Node | string)} content
   * @returns {HTMLElementTagNameMap[K]}
   */
  function make(name, attributes = {}, ...content) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...content);
    return element;
  }

  /** @type {(text: string, run: () => void, name?: string) => HTMLButtonElement} */
  function button(text, run, name = "") {
    const element = make("button", { type: "button", class: name }, text);
    element.addEventListener("click", run);
    return element;
  }

  // ---- Search ----

  const input = /** @type {HTMLInputElement | null} */ (byId("search"));
  const nav = document.querySelector("nav");
  /** @type {{element: HTMLElement, text: string}[] | null} */
  let entries = null;

  function read() {
    /** @type {HTMLElement[]} */
    const items = [...document.querySelectorAll("nav li")].map((it) => /** @type {HTMLElement} */ (it));
    entries = items.map((element) => {
      const link = element.querySelector("a");
      return { element, text: `${link?.textContent} ${link?.title}`.toLowerCase() };
    });
    return entries;
  }

  /** Adds the operations of the other groups, which only the first page lists. */
  async function loadAll() {
    const home = nav?.dataset.home;
    if (!nav || !home) return;
    nav.dataset.home = "";
    const url = new URL(home, location.href);
    const page = new DOMParser().parseFromString(await (await fetch(url)).text(), "text/html");
    const own = nav.querySelectorAll("h2, ul");
    for (const link of page.querySelectorAll("nav a")) {
      link.setAttribute("href", new URL(link.getAttribute("href") ?? "", url).href);
    }
    input?.closest("search")?.after(...page.querySelectorAll("nav h2, nav ul"));
    own.forEach((element) => element.remove());
    read();
    search();
  }

  function search() {
    if (!input) return;
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { element, text } of entries ?? read()) {
      element.hidden = !words.every((word) => text.includes(word));
      if (!element.hidden) count += 1;
    }
    for (const heading of document.querySelectorAll("nav h2")) {
      const list = heading.nextElementSibling;
      const isEmpty = list?.tagName === "UL" && !list.querySelector("li:not([hidden])");
      /** @type {HTMLElement} */ (heading).hidden = words.length > 0 && isEmpty;
    }
    const found = byId("found");
    if (found) found.textContent = words.length === 0 ? "" : `${count} found`;
  }

  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = target.matches("input:not([type=radio], [type=checkbox]), textarea, select");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      const menu = /** @type {HTMLInputElement | null} */ (byId("menu"));
      if (menu) menu.checked = true;
      input?.focus();
    }
  });
  input?.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      search();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      const first = /** @type {HTMLElement | null} */ (document.querySelector("nav li:not([hidden]) a"));
      if (first) {
        event.preventDefault();
        first.focus();
        if (event.key === "Enter") first.click();
      }
    }
  });
  input?.addEventListener("input", search);
  input?.addEventListener("focus", loadAll);
  const box = /** @type {HTMLElement | null} */ (document.querySelector("search"));
  if (box) box.hidden = false;

  // ---- The current operation, and folded targets of links ----

  function open() {
    const target = byId(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
    const menu = /** @type {HTMLInputElement | null} */ (byId("menu"));
    if (menu) menu.checked = false;
    document.querySelector("nav [aria-current]")?.removeAttribute("aria-current");
    for (const link of document.querySelectorAll("nav li a")) {
      if (location.hash && link.getAttribute("href")?.endsWith(location.hash)) {
        link.setAttribute("aria-current", "true");
      }
    }
  }
  window.addEventListener("hashchange", open);
  open();

  // ---- Copying ----

  /** @type {(listing: HTMLElement) => HTMLButtonElement} */
  function copyButton(listing) {
    const copy = button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(listing.textContent ?? "");
        copy.textContent = "Copied";
      } catch {
        // A page without TLS has no clipboard.
        getSelection()?.selectAllChildren(listing);
        copy.textContent = "Selected";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 1500);
    }, "copy");
    return copy;
  }
  for (const listing of document.querySelectorAll(".card pre")) {
    listing.before(copyButton(/** @type {HTMLElement} */ (listing)));
  }

  // ---- Requests ----

  const source = byId("calls")?.textContent;
  if (!source) return;
  /** @type {Data} */
  const data = JSON.parse(source);
  /** The credentials, which stay in the memory of this page. @type {Map<string, string>} */
  const credentials = new Map();

  /** @type {(scheme: Scheme) => string} */
  function schemeText(scheme) {
    switch (scheme.k) {
      case "basic": return "User and password, as user:password";
      case "http": return `Token for Authorization: ${scheme.n}`;
      case "header": return scheme.t ?? `Key for the header ${scheme.n}`;
      default: return `The browser sends the cookie ${scheme.n} after a login on this site.`;
    }
  }

  function authorize() {
    const form = make("form", { method: "dialog" }, make("h2", {}, "Authorize"));
    form.append(make("p", { class: "soft" }, "The page keeps credentials in memory until you close it."));
    for (const [name, scheme] of Object.entries(data.schemes)) {
      if (scheme.k === "cookie") {
        form.append(make("p", {}, schemeText(scheme)));
        continue;
      }
      const id = `auth-${name}`;
      const field = make("input", { id, autocomplete: "off", spellcheck: "false" });
      field.value = credentials.get(name) ?? "";
      field.addEventListener("input", () => {
        credentials.set(name, field.value.trim());
        document.dispatchEvent(new Event("authorized"));
      });
      form.append(make("label", { for: id }, schemeText(scheme)), field);
    }
    form.append(make("button", { class: "main" }, "Done"));
    const dialog = make("dialog", { "aria-label": "Authorize" }, form);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
  if (Object.keys(data.schemes).length > 0) {
    document.querySelector(".bar p")?.append(button("Authorize", authorize, "main"));
  }

  /** @type {(call: Call) => [string, string][]} */
  function credentialHeaders(call) {
    for (const name of call.a ?? []) {
      const scheme = data.schemes[name];
      const value = credentials.get(name);
      if (!scheme || !value) continue;
      if (scheme.k === "basic") {
        const bytes = Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte));
        return [["Authorization", `Basic ${btoa(bytes.join(""))}`]];
      }
      return [scheme.k === "http" ? ["Authorization", `${scheme.n} ${value}`] : [scheme.n, value]];
    }
    return [];
  }

  // ---- The request in other languages ----

  /** @type {(text: string) => string} */
  const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  /** @type {(text: string) => string} */
  const literal = (text) => JSON.stringify(text);
  /** @type {(text: string) => string} */
  const rust = (text) => {
    const longest = Math.max(0, ...(text.match(/"#*/g) ?? []).map((it) => it.length));
    const marks = "#".repeat(longest);
    return longest === 0 && !text.includes("\\") ? `"${text}"` : `r${marks || "#"}"${text}"${marks || "#"}`;
  };

  /** @type {Record<string, (sent: Sent) => string>} */
  const languages = {
    "curl": ({ method, url, headers, text, parts }) => [
      `curl ${method === "GET" ? "" : `-X ${method} `}${shell(url)}`,
      ...headers.map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
      ...(text ? [`-d ${shell(text)}`] : []),
      ...parts.map(({ name, value, isFile }) => isFile ? `-F ${shell(`${name}=@${value}`)}` : `--form-string ${shell(`${name}=${value}`)}`),
    ].join(" \\\n  "),
    "JavaScript": ({ method, url, headers, text, parts }) => {
      const form = parts.map(({ name, value, isFile }) => `form.append(${literal(name)}, ${isFile ? `file, ${literal(value)}` : literal(value)});\n`);
      const lines = [`method: ${literal(method)}`];
      if (headers.length > 0) lines.push(`headers: ${JSON.stringify(Object.fromEntries(headers), null, 2).replaceAll("\n", "\n  ")}`);
      if (text) lines.push(`body: ${literal(text)}`);
      if (form.length > 0) lines.push("body: form");
      const start = form.length > 0 ? `const form = new FormData();\n${form.join("")}` : "";
      return `${start}const response = await fetch(${literal(url)}, {\n  ${lines.join(",\n  ")},\n});\nconsole.log(response.status, await response.text());`;
    },
    "Python": ({ method, url, headers, text, parts }) => {
      const lines = [literal(method), literal(url)];
      if (headers.length > 0) lines.push(`headers=${JSON.stringify(Object.fromEntries(headers), null, 4).replaceAll("\n", "\n    ")}`);
      if (text) lines.push(`data=${literal(text)}.encode()`);
      const form = parts.map(({ name, value, isFile }) => `(${literal(name)}, ${isFile ? `open(${literal(value)}, "rb")` : `(None, ${literal(value)})`})`);
      if (form.length > 0) lines.push(`files=[${form.join(", ")}]`);
      return `import requests\n\nresponse = requests.request(\n    ${lines.join(",\n    ")},\n)\nprint(response.status_code, response.text)`;
    },
    "Rust": ({ method, url, headers, text, parts }) => {
      const name = method.charAt(0) + method.slice(1).toLowerCase();
      const call = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].includes(method)
        ? `.${name.toLowerCase()}(${rust(url)})`
        : `.request(reqwest::Method::${method}, ${rust(url)})`;
      const lines = headers.map(([key, value]) => `.header(${rust(key)}, ${rust(value)})`);
      if (text) lines.push(`.body(${rust(text)})`);
      const form = parts.map(({ name, value, isFile }) => `\n    .${isFile ? "file" : "text"}(${rust(name)}, ${rust(value)})${isFile ? ".await?" : ""}`);
      if (form.length > 0) lines.push(".multipart(form)");
      const start = form.length > 0 ? `let form = reqwest::multipart::Form::new()${form.join("")};\n` : "";
      return start + ["let response = reqwest::Client::new()", call, ...lines, ".send()", ".await?;"].join("\n    ");
    },
  };

  // ---- The form of an operation ----

  let count = 0;
  /** @type {(label: string, field: HTMLElement, isRequired?: boolean) => HTMLElement} */
  function labeled(label, field, isRequired = false) {
    count += 1;
    field.id = `field-${count}`;
    const mark = isRequired ? [make("em", {}, " required")] : [];
    return make("div", { class: "field" }, make("label", { for: field.id }, label, ...mark), field);
  }

  /** @type {(parameter: Parameter) => HTMLInputElement | HTMLSelectElement} */
  function parameterField(parameter) {
    const values = parameter.v ?? [];
    if (values.length === 0) {
      const field = make("input", { autocomplete: "off", spellcheck: "false", placeholder: parameter.e });
      if (parameter.r) field.value = parameter.e;
      return field;
    }
    const field = make("select");
    if (!parameter.r) field.append(make("option", { value: "" }, ""));
    field.append(...values.map((value) => make("option", { value: String(value) }, String(value))));
    return field;
  }

  /**
   * Returns the pairs of a parameter in a query. A list is several pairs, or
   * one pair with a separator that is not encoded. An object is a pair for each
   * member.
   * @param {Parameter} parameter
   * @param {string} value
   * @returns {string[]}
   */
  function queryPairs({ n, s }, value) {
    const encode = encodeURIComponent;
    if (s === "each") return value.split(",").map((item) => `${encode(n)}=${encode(item)}`);
    if (s === "deep") {
      try {
        const members = Object.entries(JSON.parse(value));
        return members.map(([key, item]) => `${encode(`${n}[${key}]`)}=${encode(String(item))}`);
      } catch {
        // The server reports the invalid text.
      }
    } else if (s) {
      return [`${encode(n)}=${value.split(s).map(encode).join(s === " " ? "%20" : s)}`];
    }
    return [`${encode(n)}=${encode(value)}`];
  }

  /** @param {HTMLElement} section @param {Call} call */
  function addForm(section, call) {
    const form = make("form", { class: "try" });
    const card = section.querySelector(".card");
    const servers = make("select");
    if (data.servers.length > 1) {
      servers.append(...data.servers.map((url) => make("option", { value: url }, url)));
      form.append(labeled("Server", servers));
    }
    // A script cannot set cookies of a request, nor this header.
    const isSettable = (/** @type {Parameter} */ { n, i }) => i !== "cookie" && n.toLowerCase() !== "accept-encoding";
    const parameters = (call.q ?? []).filter(isSettable).map((parameter) => {
      const field = parameterField(parameter);
      form.append(labeled(`${parameter.n} (${parameter.i})`, field, parameter.r));
      return { parameter, field };
    });
    const body = bodyFields(form, call);
    const errors = make("div", { class: "errors", role: "alert" });
    const send = make("button", { class: "main" }, isStream(call) ? "Connect" : "Send");
    const output = make("div", { class: "output", "aria-live": "polite" });
    form.append(errors, send, output);

    /** @returns {Sent} */
    function request() {
      let path = call.p;
      /** @type {string[]} */
      const query = [];
      const headers = credentialHeaders(call);
      for (const { parameter, field: { value } } of parameters) {
        const { n, i, r } = parameter;
        if (i === "path") path = path.replace(`{${n}}`, encodeURIComponent(value));
        else if (value === "" && !r) continue;
        else if (i === "query") query.push(...queryPairs(parameter, value));
        else if (i === "header") headers.push([n, value]);
      }
      const base = data.servers.length > 1 ? servers.value : data.servers[0] ?? "";
      const target = base.replace(/\/$/, "") + path + (query.length > 0 ? `?${query.join("&")}` : "");
      const sent = body();
      if (sent.type) headers.push(["Content-Type", sent.type]);
      return { method: call.m, url: new URL(target, location.href).href, headers, body: sent.body, text: sent.text, parts: sent.parts ?? [] };
    }

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      errors.replaceChildren();
      form.querySelectorAll("[aria-invalid]").forEach((it) => it.removeAttribute("aria-invalid"));
      if (call.m === "WS") return connect(request(), output);
      await run(request(), output, (list) => showErrors(form, errors, parameters, list));
    });

    const language = make("select", { "aria-label": "Language" });
    language.append(...Object.keys(languages).map((name) => make("option", {}, name)));
    const listing = card?.querySelector("pre");
    const show = () => {
      const text = languages[language.value]?.(request());
      if (listing && text) listing.textContent = text;
    };
    if (call.m !== "WS") {
      card?.querySelector("h4")?.after(language);
      language.addEventListener("change", show);
      form.addEventListener("input", show);
      document.addEventListener("authorized", () => { if (form.isConnected) show(); });
    }
    const details = make("details", { class: "card" }, make("summary", {}, "Try it"), form);
    section.querySelector(".ex")?.prepend(details);
  }

  /** @type {(call: Call) => boolean} */
  const isStream = (call) => call.m === "WS";

  /**
   * Adds the fields of a body, and returns the function that reads them.
   * @param {HTMLElement} form
   * @param {Call} call
   * @returns {() => Entered}
   */
  function bodyFields(form, call) {
    const bodies = call.b ?? [];
    if (bodies.length === 0) return () => ({ type: "", body: null, text: "" });
    const type = make("select");
    type.append(...bodies.map((body) => make("option", {}, body.t)));
    if (bodies.length > 1) form.append(labeled("Media type", type));
    const place = make("div");
    form.append(place);
    /** @type {() => Entered} */
    let current = () => ({ type: "", body: null, text: "" });
    const change = () => {
      place.replaceChildren();
      const body = bodies.find((it) => it.t === type.value) ?? bodies[0];
      if (body) current = bodyField(place, body);
    };
    type.addEventListener("change", change);
    change();
    return () => current();
  }

  /**
   * @param {HTMLElement} place
   * @param {Content} body
   * @returns {() => Entered}
   */
  function bodyField(place, body) {
    if (body.f) {
      // A form without declared fields has one file with any name.
      const isOpen = body.f.length === 0;
      const name = make("input", { autocomplete: "off", spellcheck: "false" });
      name.value = "file";
      if (isOpen) place.append(labeled("Name of the part", name));
      const known = isOpen ? [{ n: "File", f: true, e: null }] : body.f;
      const fields = known.map(({ n, f, l, e }) => {
        const field = make("input", f ? { type: "file" } : {});
        field.multiple = l === true;
        if (!f && e !== undefined && e !== null) field.value = typeof e === "string" ? e : JSON.stringify(e);
        place.append(labeled(n, field));
        return { n, field };
      });
      return () => {
        const form = new FormData();
        /** @type {Part[]} */
        const parts = [];
        for (const { n, field } of fields) {
          const own = isOpen ? name.value : n;
          for (const file of field.files ?? []) form.append(own, file);
          if (field.type === "file") {
            const names = [...field.files ?? []].map((file) => file.name);
            parts.push(...(names.length > 0 ? names : ["file"]).map((value) => ({ name: own, value, isFile: true })));
          } else {
            form.append(own, field.value);
            parts.push({ name: own, value: field.value, isFile: false });
          }
        }
        return { type: "", body: form, text: "", parts };
      };
    }
    if (body.e === undefined) {
      const field = make("input", { type: "file" });
      place.append(labeled(`Body (${body.t})`, field));
      const kind = body.t === "*/*" ? "application/octet-stream" : body.t;
      return () => ({ type: kind, body: field.files?.[0] ?? null, text: "" });
    }
    const isForm = body.t === "application/x-www-form-urlencoded";
    const field = make("textarea", { spellcheck: "false", rows: "8", "data-body": "" });
    field.value = isForm ? formText(body.e) : JSON.stringify(body.e, null, 2);
    field.rows = Math.min(16, field.value.split("\n").length + 1);
    place.append(labeled("Body", field));
    return () => ({ type: body.t, body: field.value, text: field.value });
  }

  /** @type {(value: unknown) => string} */
  function formText(value) {
    const pairs = Object.entries(/** @type {Record<string, unknown>} */ (value ?? {}));
    return new URLSearchParams(pairs.map(([key, item]) => [key, String(item)])).toString();
  }

  /**
   * Sends a request, and shows the response.
   * @param {Sent} sent
   * @param {HTMLElement} output
   * @param {(list: {field: string, message: string}[]) => void} show
   */
  async function run(sent, output, show) {
    output.replaceChildren(make("p", { class: "soft" }, "Waiting for the response …"));
    const start = performance.now();
    try {
      const { method, headers, body } = sent;
      const response = await fetch(sent.url, { method, headers, body, credentials: "same-origin" });
      const time = Math.round(performance.now() - start);
      const status = make("b", { class: `s s${String(response.status)[0]}` }, String(response.status));
      const names = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
      const listing = make("pre", { tabindex: "0" });
      output.replaceChildren(
        make("p", { class: "status" }, status, ` ${response.statusText} in ${time} ms`, copyButton(listing)),
        make("details", {}, make("summary", {}, "Headers"), make("pre", { tabindex: "0" }, names)),
        listing,
      );
      const kind = response.headers.get("content-type") ?? "";
      if (kind.startsWith("text/event-stream")) return await follow(response, output, listing);
      const text = await response.text();
      listing.textContent = formatted(text, kind);
      if (response.status >= 400 && kind.includes("json")) show(fieldErrors(JSON.parse(text)));
    } catch (error) {
      output.replaceChildren(make("p", { class: "old" }, `No response: ${error}`));
    }
  }

  /** @type {(text: string, kind: string) => string} */
  function formatted(text, kind) {
    if (!kind.includes("json")) return text;
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }

  /**
   * Shows the events of a stream as they arrive.
   * @param {Response} response
   * @param {HTMLElement} output
   * @param {HTMLElement} listing
   */
  async function follow(response, output, listing) {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const stop = button("Close", () => reader?.cancel());
    output.append(stop);
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) break;
      listing.append(part.value);
    }
    stop.remove();
  }

  /**
   * Opens a WebSocket.
   * @param {Sent} sent
   * @param {HTMLElement} output
   */
  function connect(sent, output) {
    const socket = new WebSocket(sent.url.replace(/^http/, "ws"));
    const listing = make("pre", { tabindex: "0" });
    /** @type {(text: string) => void} */
    const add = (text) => listing.append(`${text}\n`);
    const field = make("input", { "aria-label": "Message", autocomplete: "off" });
    const send = button("Send", () => {
      socket.send(field.value);
      add(`→ ${field.value}`);
    });
    send.disabled = true;
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      // Otherwise the form would connect again.
      event.preventDefault();
      send.click();
    });
    output.replaceChildren(field, send, button("Close", () => socket.close()), listing);
    socket.addEventListener("open", () => {
      add("open");
      send.disabled = false;
    });
    socket.addEventListener("message", (event) => add(`← ${typeof event.data === "string" ? event.data : "(binary)"}`));
    socket.addEventListener("close", (event) => {
      add(`closed: ${event.code} ${event.reason}`);
      send.disabled = true;
    });
  }

  /**
   * Returns the errors of fields in a body of this framework.
   * @param {any} body
   * @returns {{field: string, message: string}[]}
   */
  function fieldErrors(body) {
    const list = body?.details?.errors ?? body?.errors ?? [];
    if (!Array.isArray(list)) return [];
    return list.map((it) => ({ field: String(it?.field ?? ""), message: String(it?.message ?? it) }));
  }

  /**
   * Shows each error at its field, or at the body.
   * @param {HTMLElement} form
   * @param {HTMLElement} errors
   * @param {{parameter: Parameter, field: HTMLElement}[]} parameters
   * @param {{field: string, message: string}[]} list
   */
  function showErrors(form, errors, parameters, list) {
    for (const { field, message } of list) {
      const body = /** @type {HTMLTextAreaElement | null} */ (form.querySelector("[data-body]"));
      const own = parameters.find(({ parameter }) => parameter.n === field)?.field ?? body;
      own?.setAttribute("aria-invalid", "true");
      errors.append(button(`${field ? `${field}: ` : ""}${message}`, () => {
        own?.focus();
        const name = field.split(/[.[\]]/).filter((part) => part && !/^\d+$/.test(part)).pop() ?? "";
        const at = own === body && body ? body.value.indexOf(`"${name}"`) : -1;
        if (body && at >= 0) body.setSelectionRange(at, at + name.length + 2);
      }, "error"));
    }
  }

  // A form is built when its section is near the screen, so a large page opens fast.
  /** @type {Set<Element>} */
  const built = new Set();
  /** @type {(section: Element | null) => void} */
  function build(section) {
    const call = section && data.calls[section.id];
    if (!section || !call || built.has(section)) return;
    built.add(section);
    addForm(/** @type {HTMLElement} */ (section), call);
  }
  const observer = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) build(target);
  }, { rootMargin: "400px" });
  for (const section of document.querySelectorAll("section.op")) observer.observe(section);
  const buildTarget = () => build(byId(location.hash.slice(1)));
  window.addEventListener("hashchange", buildTarget);
  buildTarget();
})();
