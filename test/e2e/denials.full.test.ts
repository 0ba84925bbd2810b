import type { ChildProcess } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  for (const mock of mocks.splice(0)) await mock.close();
});

async function model(script: string): Promise<Record<string, string>> {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  return providerEnvironment("anthropic", mock.url);
}

describe("a denial without a person", () => {
  verifies(["P1", "U1", "O5"], "names the command and a rule, which allows it when it is written down", async () => {
    const script = 'reply\n  tool web_fetch {"url": "http://127.0.0.1:9/page"}\nreply\n  text: Done.\n';
    const denied = await oxbow(["fetch the page"], { env: await model(script) });
    expect(denied.code).toBe(4);
    expect(denied.stderr).toContain("there is no terminal to ask on: web_fetch http://127.0.0.1:9/page.");
    const [, rule = ""] = /write (permissions\.rules = \[.*\]) into config\.toml/.exec(denied.stderr) ?? [];
    expect(rule).toContain('tool = "web_fetch"');
    const home = await temporaryFolder();
    await mkdir(join(home, "config"));
    await writeFile(join(home, "config", "config.toml"), `${rule}\n`);
    const allowed = await oxbow(["fetch the page"], { env: { ...(await model(script)), OXBOW_HOME: home } });
    expect([allowed.code, allowed.stderr]).toEqual([0, ""]);
  });
});

describe("oxbow tools", () => {
  verifies(["P1", "U10"], "tells what asks, from the decisions themselves", async () => {
    const asked = async (args: readonly string[]) => {
      const tools = JSON.parse((await oxbow(["tools", "--json", ...args])).stdout);
      return Object.fromEntries(tools.map((tool: Record<string, string>) => [tool.name, tool.permission]));
    };
    expect(await asked(["--permission-mode", "ask", "--sandbox", "off"])).toMatchObject({
      ...{ read: "free", edit: "asks", write: "asks", bash: "depends", web_fetch: "asks" },
    });
    expect(await asked(["--permission-mode", "allow"])).toMatchObject({
      edit: "free",
      bash: "free",
      web_fetch: "free",
    });
    expect(await asked(["--permission-mode", "deny"])).toMatchObject({ read: "denied", bash: "denied" });
  });
});

describe("safe calls", () => {
  verifies(["L6"], "web_fetch gets its page while the answer still streams, where it is allowed", async () => {
    let program: ChildProcess | undefined;
    let fetched = 0;
    // The answer never ends: only a call that starts before its end reaches the page.
    const page = createServer((_, response) => {
      fetched += 1;
      response.end("a page", () => program?.kill("SIGINT"));
    }).listen(0, "127.0.0.1");
    servers.push(page);
    await new Promise((resolve) => page.once("listening", resolve));
    const { port } = page.address() as AddressInfo;
    const env = await model(`reply\n  tool web_fetch {"url": "http://127.0.0.1:${port}/"}\n  text: more\n  hang\n`);
    const config = join(await temporaryFolder(), "oxbow");
    await mkdir(join(config, "config"), { recursive: true });
    await writeFile(join(config, "config", "config.toml"), `web_hosts = ["127.0.0.1:${port}"]\n`);
    const { stdout } = await oxbow(["go on", "--permission-mode", "allow", "--stream-events"], {
      env: { ...env, OXBOW_HOME: config },
      onOutput: (_, child) => {
        program = child;
      },
    });
    expect(fetched).toBe(1);
    expect(envelopes(stdout).filter(({ kind }) => kind === "ToolCallStarted")).toHaveLength(1);
  });

  verifies(["L6", "L9"], "forty at once bring no warning of the platform", async () => {
    const calls = (line: string) => `reply\n${`  ${line}\n`.repeat(40)}`;
    const script = `${calls('tool read {"path": "a.txt"}')}${calls('tool grep {"pattern": "word"}')}reply\n  text: Done.\n`;
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "a.txt"), "word\n");
    const { stdout, stderr } = await oxbow(["go on"], { env: await model(script), cwd });
    expect([stdout, stderr]).toEqual(["Done.\n", ""]);
  });
});
