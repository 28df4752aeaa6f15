//! The chapters of the book, in the folder `book` of the repository.
//!
//! | topic | files |
//! |---|---|
//! | tutorial: a notes API in nine steps | `book/src/tutorial` |
//! | installation, validation, authentication, middleware, tests | `book/src/how-to/installation.md`, `validation.md`, `authentication.md`, `middleware.md`, `testing.md` |
//! | OpenAPI documents, defaults | `book/src/how-to/openapi.md`, `defaults.md` |
//! | CORS, CSRF, sessions, revoked tokens, API keys | `book/src/how-to/cors.md`, `csrf.md`, `sessions.md`, `revoking-tokens.md`, `api-keys.md` |
//! | rate limiting, load shedding | `book/src/how-to/rate-limiting.md` |
//! | policy, lock file, hardening, tests of logouts, property testing | `book/src/how-to/policy.md`, `routes-lock.md`, `hardening.md`, `sign-out-tests.md`, `property-testing.md` |
//! | file upload, static files, pagination, ETags, compression | `book/src/how-to/files.md`, `pagination.md`, `etags-and-compression.md` |
//! | databases, transactions, migrations, idempotency keys | `book/src/how-to/sqlx-and-diesel.md`, `migrations-and-transactions.md`, `idempotency.md` |
//! | WebSockets, server-sent events, streaming | `book/src/how-to/websockets.md`, `sse.md` |
//! | REST resources, stores in SQLite and PostgreSQL | `book/src/how-to/rest.md`, `sql-stores.md`, `sql-sessions.md` |
//! | GraphQL, JSON-RPC, tools for AI agents, generated clients | `book/src/how-to/graphql.md`, `json-rpc.md`, `mcp.md`, `clients.md` |
//! | background tasks, tower, axum, actix-web, AWS Lambda | `book/src/how-to/background-tasks.md`, `tower.md`, `axum.md`, `actix-web.md`, `lambda.md` |
//! | tokens, passwords and validation without the framework | `book/src/how-to/auth-only.md`, `validation-only.md` |
//! | error formats, problem details (RFC 9457), translated messages | `book/src/how-to/problems.md`, `languages.md` |
//! | migration from another framework | `book/src/migration` |
//! | production: Docker, Kubernetes, TLS, Redis, logging | `book/src/operations` |
//! | concepts: request, routes, extractors, middleware, state | `book/src/concepts` |
//! | reference: options, limits, features, messages, commands | `book/src/reference` |
