import { existsSync, readFileSync, statSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

async function running(
  { home, cwd }: { readonly home: string; readonly cwd: string },
  replies: readonly ReturnType<typeof reply>[],
  flags: readonly string[] = [],
) {
  const mock = await startMockModel({ script: script(replies) });
  try {
    const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
    const { stdout } = await oxbow(["run", "--stream-events", ...flags, "begin"], { cwd, env });
    return envelopes(stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
  } finally {
    await mock.close();
  }
}

const textOf = ({ content }: { readonly content: readonly { readonly type: string; readonly text?: string }[] }) =>
  content.map(({ text = "" }) => text).join("\n");

needs("sandbox").describe("the sandbox and a long output", () => {
  verifies(["T9", "P8", "L17"], "shows commands those of background commands and of subagents, read-only", async () => {
    const place = { home: await temporaryFolder(), cwd: await temporaryFolder() };
    const made = await running(place, [
      reply().tool("bash", { command: "seq 1 50000", run_in_background: true }),
      reply().tool("background", { id: "bg1", wait: 20 }),
      reply().tool("agent", { prompt: "count far", description: "counts" }),
      reply().when("count far").tool("bash", { command: "seq 60001 99999" }),
      reply().text("Done."),
      reply().text("Done."),
    ]);
    expect(made.map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
    const [session = ""] = await readdir(join(place.home, "state/output"));
    const folder = join(place.home, "state/output", session);
    const files = (await readdir(folder)).map((name) => join(folder, name));
    expect(files).toHaveLength(2);
    const cut = made
      .map(textOf)
      .filter((text) => /the whole output is in \S+; to go on, read it with offset \d+/.test(text));
    expect(cut).toHaveLength(1);
    const [all = ""] = files;
    const count = `import sys; print(sum(1 for f in sys.argv[1:] for _ in open(f)))`;
    const calls = [
      `python3 -c '${count}' ${files.join(" ")}`,
      `python3 -c 'print(len(open("${all}").read()) > 9)'`,
      `cp ${all} copy.txt && wc -l < copy.txt && echo x >> ${all}`,
    ];
    const later = await running(
      place,
      [...calls.map((command) => reply().tool("bash", { command })), reply().text("Done.")],
      ["--continue"],
    );
    expect(later.map(textOf)).toEqual([
      "89999",
      "True",
      expect.stringMatching(/^(50000|39999)\n[\s\S]*(Read-only file system|Permission denied)/),
    ]);
  });
});

describe("an output too long for the model", () => {
  verifies(["S4", "S5", "T6"], "is kept without secrets, can be read, and goes with its session", async () => {
    const home = await temporaryFolder();
    const cwd = await temporaryFolder();
    const secret = `ghp_${"aB3dE6gH9".repeat(4)}`;
    const lines = Array.from({ length: 9000 }, (_, index) => (index === 4500 ? `token: ${secret}` : `line ${index}`));
    await writeFile(join(cwd, "big.txt"), `${lines.join("\n")}\n`);
    const calling = async (calls: readonly (readonly [string, JsonObject])[], flags: readonly string[]) => {
      const replies = [...calls.map(([tool, args]) => reply().tool(tool, args)), reply().text("Done.")];
      const mock = await startMockModel({ script: script(replies) });
      try {
        const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
        const { stdout } = await oxbow(["run", "--stream-events", ...flags, "go on"], { cwd, env });
        const results = envelopes(stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
        return { results, session: envelopes(stdout)[0]?.session ?? "" };
      } finally {
        await mock.close();
      }
    };
    const first = await calling([["bash", { command: "cat big.txt" }]], []);
    const file = String(first.results[0]?.details?.output_file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = readFileSync(file, "utf8");
    expect(kept).not.toContain(secret);
    expect(kept).toContain("line 4499\ntoken: «redacted:");
    expect(kept.endsWith("line 8999\n")).toBe(true);
    const calls = [
      ["read", { path: file, offset: 4490, limit: 5 }],
      ["grep", { pattern: "line 4[0-9]99$", path: file }],
      ["write", { path: file, content: "changed" }],
      ["read", { path: join(home, "config") }],
      ["bash", { command: `tail -n 1 ${file} | cat; grep -c line ${file}` }],
      ["bash", { command: `cat ${file}/../../../../config/config.toml` }],
      ["bash", { command: `cat ${join(home, "state")}/*` }],
    ] as const;
    const second = await calling(calls, ["--continue"]);
    expect(second.results.map(({ status }) => status)).toEqual([
      ...["ok", "ok", "denied", "denied"],
      ...["ok", "denied", "denied"],
    ]);
    expect(JSON.stringify(second.results[4]?.content)).toContain("line 8999\\n8999");
    expect(second.results[4]?.decided_by).toBe("quiet preset");
    expect(JSON.stringify(second.results[0]?.content)).toContain("line 4491");
    expect(JSON.stringify(second.results[1]?.content)).toContain("line 4099");
    await oxbow(["session", "delete", first.session, "--yes"], { cwd, env: { OXBOW_HOME: home } });
    expect(existsSync(file)).toBe(false);
    expect(await readdir(join(home, "state/output"))).toEqual([]);
    const unkept = await calling([["bash", { command: "cat big.txt" }]], ["--store", "none"]);
    expect(existsSync(String(unkept.results[0]?.details?.output_file))).toBe(false);
  });
});
