// Checks the tools of an example with the Inspector, and counts their tokens.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const url = process.env.URL;
const home = `${import.meta.dirname}/home`;
// An article of Conduit has long patterns against invisible characters.
const MAX_TOKENS = { shop: 100, conduit: 300 };

const post = async (path, body) => {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
  return response.json();
};

/** The headers of each user whose list is checked. */
const programs = {
  async shop() {
    const admin = { email: "admin@example.org", password: "correct horse" };
    const { token } = await post("/login", admin);
    return { nobody: [], admin: [`Authorization: Bearer ${token}`] };
  },
  async conduit() {
    const user = { username: "ada", email: "ada@example.org", password: "correct horse" };
    const answer = await post("/api/users", { user });
    return { nobody: [], ada: [`Authorization: Token ${answer.user.token}`] };
  },
};

/** The list as the Inspector prints it, without any problem of a schema. */
const inspect = (era, headers) => {
  const args = ["--cli", `${url}/mcp`, "--protocol-era", era, "--method", "tools/list", "--strict"];
  for (const header of headers) args.push("--header", header);
  const env = { PATH: process.env.PATH, HOME: home };
  const inspector = `${import.meta.dirname}/node_modules/.bin/mcp-inspector`;
  const { status, stdout, stderr } = spawnSync(inspector, args, { env, encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
  assert.equal(stderr, "");
  return JSON.parse(stdout).tools;
};

const [name] = process.argv.slice(2);
for (const [user, headers] of Object.entries(await programs[name]())) {
  const tools = inspect("modern", headers);
  assert.deepEqual(inspect("legacy", headers), tools);
  assert.ok(tools.length > 0, `${user} does not see any tool`);
  // A host shows these parts to the model.
  const tokens = tools.map((tool) =>
    [tool.name, encode(JSON.stringify([tool.name, tool.description, tool.inputSchema])).length]);
  const large = tokens.filter(([, count]) => count > MAX_TOKENS[name]);
  assert.deepEqual(large, [], `more than ${MAX_TOKENS[name]} tokens`);
  const sum = tokens.reduce((all, [, count]) => all + count, 0);
  const bytes = Buffer.byteLength(JSON.stringify(tools));
  console.log(`ok  ${name}, ${user}: ${tools.length} tools, ${bytes} bytes, ${sum} tokens`);
}
