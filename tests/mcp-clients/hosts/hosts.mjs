// Connects hosts to the fixture. Each host starts in an empty folder with an
// empty environment, so it has neither a configuration nor an account. No model
// is called.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const url = process.env.URL;
const modules = `${import.meta.dirname}/node_modules`;
const platform = `${process.platform}-${process.arch}`;
const home = `${import.meta.dirname}/home`;
const project = `${home}/project`;
const env = {
  PATH: process.env.PATH,
  HOME: home,
  DO_NOT_TRACK: "1",
  DISABLE_TELEMETRY: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  GEMINI_CLI_TRUST_WORKSPACE: "true",
};
const options = { cwd: project, env, encoding: "utf8", timeout: 60_000 };

/** Runs a host and returns its output. */
const run = (program, ...args) => {
  const { status, stdout, stderr } = spawnSync(program, args, options);
  assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
  return stdout;
};

/** Asks Codex for the tools of its servers, over its own JSON-RPC. */
const codexTools = async (program) => {
  const child = spawn(program, ["app-server"], { ...options, stdio: ["pipe", "pipe", "ignore"] });
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "tests", version: "1" } } });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line);
    if (id === 1) {
      send({ method: "initialized" });
      send({ id: 2, method: "mcpServerStatus/list", params: {} });
    } else if (id === 2) {
      child.kill();
      return Object.keys(result.data.find((server) => server.name === "fixture").tools);
    }
  }
  return assert.fail("codex ended without the list of its tools");
};

const checks = {
  async "Claude Code"() {
    const claude = `${modules}/@anthropic-ai/claude-code-${platform}/claude`;
    run(claude, "mcp", "add", "--transport", "http", "fixture", url);
    assert.match(run(claude, "mcp", "list"), /fixture: .*Connected/);
  },
  async "Gemini CLI"() {
    const gemini = `${modules}/.bin/gemini`;
    run(gemini, "mcp", "add", "--transport", "http", "fixture", url);
    const { stdout, stderr } = spawnSync(gemini, ["mcp", "list"], options);
    assert.match(stdout + stderr, /fixture: .*Connected/);
  },
  async opencode() {
    const mcp = { fixture: { type: "remote", url, enabled: true } };
    writeFileSync(`${project}/opencode.json`, JSON.stringify({ mcp }));
    assert.match(run(`${modules}/opencode-${platform}/bin/opencode`, "mcp", "list"), /fixture.*connected/);
  },
  async Codex() {
    const codex = `${modules}/.bin/codex`;
    run(codex, "mcp", "add", "fixture", "--url", url);
    const tools = await codexTools(codex);
    assert.ok(tools.includes("test_simple_text"), `${tools}`);
  },
};

rmSync(home, { recursive: true, force: true });
mkdirSync(project, { recursive: true });
for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log(`ok  ${name}`);
}
