/** Signing in to an MCP server with the built program: the tokens stay in the credential helper. */
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { McpHttpServer } from "../support/mcp-http-server.js";
import { oxbowProcess, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A browser: opens an address, follows redirects, and ends. */
async function browserProgram(): Promise<string> {
  const path = join(await temporaryFolder(), "browser");
  const code = `const go = (url) => require("http").get(url, { headers: { "sec-fetch-mode": "navigate" } }, (answer) =>
    answer.headers.location ? go(answer.headers.location) : answer.resume());
  go(process.argv[1]);`;
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' -e '${code}' "$1"\n`);
  await chmod(path, 0o755);
  return path;
}

verifies(["E6"], "oxbow mcp auth signs in, and the helper adds and renews the token", async () => {
  const server = await McpHttpServer.open({ access: "signed-in", tokenSeconds: 1 });
  closing.push(() => server.close());
  const home = await temporaryFolder();
  const env = { OXBOW_HOME: home, BROWSER: await browserProgram() };
  const run = (...args: readonly string[]) => oxbowProcess(args, { env });
  closing.push(() => run("auth", "lock"));
  const added = await run("mcp", "add", "docs", `${server.url}/mcp`);
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("Added 'docs'") });
  const before = await run("mcp", "test", "docs");
  expect(before).toMatchObject({ code: 1, stdout: expect.stringContaining("oxbow mcp auth docs") });
  const signedIn = await run("mcp", "auth", "docs");
  expect(signedIn).toMatchObject({ code: 0, stdout: `Signed in to 'docs', for ${server.url} only.\n` });
  const after = await run("mcp", "test", "docs");
  expect(after).toMatchObject({ code: 0, stdout: expect.stringContaining("1 tool: say") });
  expect(server.grants).toContain("refresh_token");
  const files = await readdir(home, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  const traces = [...texts, signedIn.stdout, signedIn.stderr, after.stdout, after.stderr].join("\n");
  for (const token of server.tokens) expect(traces).not.toContain(token);
});
