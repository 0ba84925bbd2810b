/** The `/tmp` of a session: its commands, its file tools and its subagents share it, and nothing of it leads out. */
import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { JsonObject } from "../../src/protocol/json.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { envelopes, oxbow, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

async function results(
  replies: readonly ReturnType<typeof reply>[],
  { cwd, temporary }: { readonly cwd: string; readonly temporary?: string },
) {
  const mock = await startMockModel({ script: script([...replies, reply().text("Done.")]) });
  try {
    const own = { OXBOW_HOME: await temporaryFolder(), ...(temporary !== undefined && { TMPDIR: temporary }) };
    const env = { ...own, ...providerEnvironment("anthropic", mock.url) };
    const { stdout } = await oxbow(["run", "--stream-events", "begin"], { cwd, env });
    const found = envelopes(stdout).flatMap((event) => (event.kind === "ToolResult" ? [event.payload] : []));
    return found.map(({ status, content }) => ({
      status,
      text: content.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
    }));
  } finally {
    await mock.close();
  }
}

const bash = (command: string, more: JsonObject = {}) => reply().tool("bash", { command, ...more });

needs("sandbox").describe("the /tmp of a session", () => {
  verifies(["P8", "T3", "T5"], "is the same for commands and for file tools, and is removed at the end", async () => {
    const cwd = await temporaryFolder();
    const temporary = await temporaryFolder();
    const found = await results(
      [
        bash("mkdir /tmp/d && echo needle > /tmp/d/note.txt && echo $TMPDIR"),
        reply().tool("read", { path: "/tmp/d/note.txt" }),
        reply().tool("ls", { path: "/tmp" }),
        reply().tool("grep", { pattern: "needle", path: "/tmp" }),
        reply().tool("edit", { path: "/tmp/d/note.txt", old: "needle", new: "thread" }),
        reply().tool("write", { path: "/tmp/made/by-tool.txt", content: "tool\n" }),
        bash("cat /tmp/d/note.txt /tmp/made/by-tool.txt"),
      ],
      { cwd, temporary },
    );
    expect(found.map(({ status }) => status)).toEqual(Array(7).fill("ok"));
    expect(found[0]?.text).toContain("/tmp");
    expect(found[1]?.text).toContain("needle");
    expect(found[2]?.text).toContain("d/");
    expect(found[3]?.text).toContain("/tmp/d/note.txt");
    expect(found[6]?.text).toContain("thread\ntool");
    expect(existsSync("/tmp/made/by-tool.txt")).toBe(false);
    expect(await readdir(temporary)).toEqual([]);
  });

  verifies(["P8", "T3"], "holds no way out for the file tools", async () => {
    const cwd = await temporaryFolder();
    const outside = await temporaryFolder();
    await writeFile(join(outside, "diary.txt"), "not for you\n");
    await writeFile(join(cwd, ".env"), "A=not-for-you\n");
    const links = `ln -s ${outside}/diary.txt /tmp/file; ln -s ${outside} /tmp/folder; ln -s / /tmp/root; ln -s ${cwd} /tmp/project`;
    const read = (path: string) => reply().tool("read", { path });
    const found = await results(
      [
        bash(links),
        read("/tmp/file"),
        read("/tmp/folder/diary.txt"),
        read(`/tmp/root${outside}/diary.txt`),
        read(`/tmp/../${outside}/diary.txt`),
        read("/tmp/root/../../etc/hostname"),
        read("/tmp/project/.env"),
        reply().tool("write", { path: "/tmp/folder/made.txt", content: "x" }),
        reply().tool("grep", { pattern: "not.for.you", path: "/tmp" }),
        reply().tool("ls", { path: "/tmp/folder" }),
      ],
      { cwd },
    );
    expect(found.map(({ status }) => status)).toEqual(["ok", ...Array(7).fill("denied"), "ok", "denied"]);
    expect(found.map(({ text }) => text).join("\n")).not.toMatch(/not.for.you\n/);
    expect(await readdir(outside)).toEqual(["diary.txt"]);
  });

  verifies(["P8", "L17"], "is shared by subagents, as localhost is", async () => {
    const cwd = await temporaryFolder();
    const server = `node -e 'require("net").createServer((s) => s.end("served\\n")).listen(8123, "127.0.0.1", () => console.log("up"))'`;
    const ask = `node -e 'require("net").connect(8123, "127.0.0.1").on("error", (e) => console.log(e.code)).pipe(process.stdout)'`;
    const found = await results(
      [
        bash(`echo kept > /tmp/note; ${server}`, { run_in_background: true }),
        bash("until [ -e /tmp/note ]; do sleep 0.05; done; sleep 1"),
        reply().tool("agent", { prompt: "look there", description: "looks" }),
        reply()
          .when("look there")
          .tool("bash", { command: `cat /tmp/note; ${ask}; echo theirs > /tmp/theirs` }),
        reply().when("tool-results", { contains: "served" }).text("kept and served"),
        bash("cat /tmp/theirs"),
      ],
      { cwd },
    );
    expect(found.at(2)?.text).toContain("kept and served");
    expect(found.at(-1)?.text).toContain("theirs");
  });

  verifies(["T6", "P8"], "ends what a command leaves behind, and the result counts it", async () => {
    const cwd = await temporaryFolder();
    const found = await results(
      [
        bash("sleep 100 & sleep 100 & echo started"),
        bash("(sleep 0.01 &) ; true & wait; sleep 0.2; echo done"),
        bash("head -c 400000 /dev/zero | tr '\\0' x; sleep 100 &"),
      ],
      { cwd },
    );
    expect(found[0]?.text).toContain("started");
    expect(found[0]?.text).toContain(
      "[2 processes were still running and ended with the command; use run_in_background to keep one]",
    );
    expect(found[1]?.text).not.toContain("still running");
    expect(found[2]?.text).toContain("[1 process was still running");
    expect(found.map(({ text }) => text).join("")).not.toContain("oxbow-starts");
  });
});
