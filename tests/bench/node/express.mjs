// express, with helmet, cors, express-rate-limit and jsonwebtoken in full mode.

import { createServer } from "node:http";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import express from "express";
import * as shared from "./shared.mjs";

const app = express();
// The others send neither of them.
app.disable("etag");
app.disable("x-powered-by");

let token = (request, response, next) => next();

if (shared.isFull) {
  const load = async (name) => (await import(name)).default;
  const [helmet, cors, limit, jwt] = await Promise.all(
    ["helmet", "cors", "express-rate-limit", "jsonwebtoken"].map(load),
  );
  app.use(helmet(shared.helmet));
  app.use(cors(shared.cors));
  app.use(
    limit({
      limit: shared.MAX_REQUESTS,
      windowMs: shared.WINDOW_MS,
      standardHeaders: "draft-7",
      legacyHeaders: false,
    }),
  );
  token = (request, response, next) => {
    try {
      const header = request.headers.authorization ?? "";
      request.user = jwt.verify(header.replace(/^Bearer /, ""), shared.SECRET, { algorithms: ["HS256"] });
    } catch {
      response.status(401).type("application/json").set("www-authenticate", shared.CHALLENGE);
      response.send(shared.UNAUTHORIZED);
      return;
    }
    next();
  };
}

const message = (request, response) => response.type("application/json").send(shared.MESSAGE);

app.get("/json", message);

app.get("/users/:id/posts/:post", token, (request, response) => {
  response.json({ user: Number(request.params.id), post: Number(request.params.post) });
});

const ajv = new Ajv(shared.ajv);
addFormats.default(ajv);
const validate = ajv.compile(shared.USER);
app.post("/people", express.json({ limit: shared.MAX_BODY }), (request, response) => {
  if (validate(request.body)) response.json(request.body);
  else response.status(400).json(shared.refusal(validate.errors));
});

for (const [method, path] of shared.GITHUB) app[method.toLowerCase()](path, message);

const server = createServer({ keepAliveTimeout: shared.KEEP_ALIVE_MS }, app);
server.listen(shared.listen, () => shared.announce(server));
