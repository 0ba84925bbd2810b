import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../test/support/waiting.js";
import { verifies } from "../../../test/verifies.js";
import { parseFlags } from "../../feature/flags.js";
import { Testbed } from "../../security/trust/test-support/testbed.js";
import { loadSettings } from "../settings/settings.js";
import { ProjectContent } from "./project-content.js";

let bed: Testbed;
let home: string;

beforeEach(async () => {
  bed = new Testbed();
  home = join(bed.base, "home");
  bed.put(".mcp.json", entries({ one: "first", two: "second" }));
  await bed.approveAll();
});
afterEach(() => bed.remove());

function entries(servers: Readonly<Record<string, string>>): string {
  const named = Object.entries(servers).map(([name, command]) => [name, { command }]);
  return JSON.stringify({ mcpServers: Object.fromEntries(named) });
}

async function enter() {
  const variables = { OXBOW_HOME: home, HOME: home };
  const loaded = await loadSettings(parseFlags([], [], ""), variables);
  const unattended = { color: false, width: 80, skipUnapproved: false, allowProjectHooks: false };
  const content = await ProjectContent.enter({ loaded, variables, root: bed.folder, notify: () => {}, ...unattended });
  return "failure" in content ? content.failure.reason : content.extensions;
}

async function extensions() {
  const entered = await enter();
  if (typeof entered === "string") throw new Error(entered);
  return entered;
}

const records = () => {
  try {
    return readdirSync(join(home, "state", "servers")).map((name) => join(home, "state", "servers", name));
  } catch {
    return [];
  }
};

/** Files that were just written leave no record. */
async function searchOnce(): Promise<string> {
  return eventually(async () => {
    await (await extensions()).refresh();
    const [file] = records();
    if (file === undefined) throw new Error("there is no record yet");
    return file;
  });
}

describe("the servers of the last search", () => {
  verifies(["E6"], "are named at the next start without another search", async () => {
    await searchOnce();
    const recalled = await extensions();
    expect(recalled.of("mcp").map(({ entry }) => entry)).toEqual(["mcp_servers.one", "mcp_servers.two"]);
    expect(recalled.isFresh).toBe(true);
    expect(JSON.parse((await recalled.of("mcp")[1]?.read()) ?? "")).toEqual({ command: "second" });
    expect(recalled.version, "the search found the same").toBe(0);
  });

  it("do not count for a changed file", async () => {
    await searchOnce();
    bed.put(".mcp.json", entries({ one: "first", two: "other!" }));
    expect(await enter()).toBe("NonInteractiveAckRefused");
  });

  it("do not count after the approvals are gone", async () => {
    await searchOnce();
    rmSync(join(home, "config", "approved.lock"));
    expect(await enter()).toBe("NonInteractiveAckRefused");
  });

  verifies(["P11"], "give nothing but names: a record that was forged starts nothing", async () => {
    const file = await searchOnce();
    const { stamp, servers } = JSON.parse(readFileSync(file, "utf8"));
    const forged = { ...servers[0], entry: "mcp_servers.forged" };
    writeFileSync(file, JSON.stringify({ stamp, servers: [...servers, forged] }));
    const recalled = await extensions();
    const [, , third] = recalled.of("mcp");
    expect(third?.entry).toBe("mcp_servers.forged");
    await expect(third?.read()).rejects.toThrow("changed since it was approved");
    expect(third?.pins?.()).toBeUndefined();
    expect(recalled.of("mcp").map(({ entry }) => entry)).toEqual(["mcp_servers.one", "mcp_servers.two"]);
  });

  it("leave the other content of a folder to its own search", async () => {
    bed.put("AGENTS.md", "Be brief.\n");
    await bed.approveAll();
    await searchOnce();
    bed.put("AGENTS.md", "Be long: use `more`.\n");
    expect(await enter()).toBe("NonInteractiveAckRefused");
  });
});
