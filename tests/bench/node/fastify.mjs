// fastify, with its own plugins in full mode.

import Fastify from "fastify";
import * as shared from "./shared.mjs";

const app = Fastify({
  bodyLimit: shared.MAX_BODY,
  keepAliveTimeout: shared.KEEP_ALIVE_MS,
  ajv: { customOptions: shared.ajv },
});

if (shared.isFull) {
  const plugin = async (name, options) => app.register((await import(`@fastify/${name}`)).default, options);
  await plugin("helmet", shared.helmet);
  await plugin("cors", shared.cors);
  await plugin("rate-limit", {
    max: shared.MAX_REQUESTS,
    timeWindow: shared.WINDOW_MS,
    enableDraftSpec: true,
  });
  await plugin("jwt", { secret: shared.SECRET });
}

app.setErrorHandler((error, request, reply) => {
  if (error.validation) return reply.code(400).send(shared.refusal(error.validation));
  return reply.code(error.statusCode ?? 500).send({ error: error.message });
});

const message = (request, reply) => reply.type("application/json").send(shared.MESSAGE);

const token = async (request, reply) => {
  try {
    await request.jwtVerify();
  } catch {
    reply.code(401).type("application/json").header("www-authenticate", shared.CHALLENGE);
    return reply.send(shared.UNAUTHORIZED);
  }
};

app.get("/json", message);

const number = { type: "integer" };
const post = { type: "object", properties: { user: number, post: number } };
app.get("/users/:id/posts/:post", {
  schema: { response: { 200: post } },
  // After the hook of the rate limit.
  preValidation: shared.isFull ? [token] : [],
  handler: async (request) => ({ user: Number(request.params.id), post: Number(request.params.post) }),
});

// A schema of the answer would put required fields before others.
app.post("/people", {
  schema: { body: shared.USER },
  handler: async (request) => request.body,
});

for (const [method, url] of shared.GITHUB) app.route({ method, url, handler: message });

await app.listen(shared.listen);
shared.announce(app.server);
