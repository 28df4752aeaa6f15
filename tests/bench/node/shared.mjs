// What both servers of Node share, as the crate `bench-common` has it; the
// runner compares every answer, so that the two cannot differ.

import { readFileSync } from "node:fs";

export const isFull = process.argv[2] === "full";

export const MESSAGE = '{"message":"Hello, World!"}';
export const UNAUTHORIZED = '{"error":"Unauthorized"}';
export const CHALLENGE = 'Bearer error="invalid_token"';
export const SECRET = "a secret of thirty-two bytes, for benchmarks";
export const MAX_REQUESTS = 1_000_000_000;
export const WINDOW_MS = 60_000;
export const MAX_BODY = 65_536;

// As others, so that idle connections stay.
export const KEEP_ALIVE_MS = 72_000;

// Each GitHub route as [method, path].
const routes = new URL("../../vectors/routes/github-routes.txt", import.meta.url);
export const GITHUB = readFileSync(routes, "utf8").trim().split("\n").map((line) => line.split(" "));

export const cors = {
  origin: ["https://app.example", "https://admin.example"],
  credentials: true,
  methods: ["GET", "POST", "PUT", "DELETE", "PATCH"],
  allowedHeaders: ["Content-Type", "Authorization"],
  exposedHeaders: ["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"],
};

// The eight headers of all, and none of helmet's others.
export const helmet = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  frameguard: { action: "deny" },
  dnsPrefetchControl: false,
  ieNoOpen: false,
  originAgentCluster: false,
  permittedCrossDomainPolicies: false,
};

const text = (minLength, maxLength) => ({ type: "string", minLength, maxLength });

export const USER = {
  type: "object",
  required: ["id", "name", "email", "age", "role", "address"],
  properties: {
    id: { type: "string", format: "uuid" },
    name: text(2, 80),
    email: { type: "string", format: "email" },
    site: { type: "string", format: "uri" },
    bio: text(0, 1000),
    age: { type: "integer", minimum: 0, maximum: 150 },
    score: { type: "number", minimum: 0, exclusiveMaximum: 1000 },
    role: { enum: ["admin", "editor", "reader"] },
    tags: { type: "array", maxItems: 10, items: text(1, 20) },
    address: {
      type: "object",
      required: ["street", "city"],
      properties: { street: text(1, 100), city: text(1, 60), zip: text(4, 10), country: text(2, 2) },
    },
    active: { type: "boolean" },
    born: { type: "string", format: "date" },
  },
};

export const ajv = { allErrors: true, coerceTypes: false, removeAdditional: false, useDefaults: false };

const WORDS = {
  format: (error) => `Invalid ${error.params.format} format`,
  maximum: (error) => `Number must be at most ${error.params.limit}`,
};

// The body of a 400, of what ajv found.
export const refusal = (errors) => ({
  error: "Validation failed",
  details: {
    errors: errors.map((error) => ({
      field: error.instancePath.slice(1),
      message: WORDS[error.keyword]?.(error) ?? "Invalid value",
      rule: error.keyword,
    })),
  },
});

export const announce = (server) => {
  const { address, port } = server.address();
  console.log(`listening on ${address}:${port}`);
};

export const listen = { host: "127.0.0.1", port: 0, backlog: 4096 };
