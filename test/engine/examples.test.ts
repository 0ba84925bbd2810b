/** The examples of extensions, as people would copy them into a project. */

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { ExtendedEngine, resultsOf } from "../support/extended-engine.js";
import { needs, skipWithout } from "../support/needs.js";
import { blocksOf } from "../support/page-examples.js";
import { verifies } from "../verifies.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));

let engine: ExtendedEngine;
beforeEach(() => {
  engine = new ExtendedEngine();
});
afterEach(() => engine.close());

async function copy(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const [, ...place] = name.split("/");
    const target = join(engine.bed.folder, ".oxbow", ...place);
    mkdirSync(join(target, ".."), { recursive: true });
    cpSync(join(EXAMPLES, name), target, { recursive: true });
  }
  await engine.bed.approveAll();
}

needs("jq").describe("examples/topology", () => {
  verifies(["L2", "E2"], "runs a whole turn with tool calls through a bash provider and stage hooks", async () => {
    engine.bed.put("notes.txt", "one two three");
    await copy("topology/hooks.d");
    await engine.open("reply\n  text: The built-in hooks answered.\n");
    const events = await engine.turn("What is here?");
    expect(engine.notes.filter((note) => /hook|tool/.test(note))).toEqual([]);
    expect(engine.requests).toEqual([]);
    expect(resultsOf(events)).toEqual(["ok: notes.txt", "ok: 3 words"]);
    const end = events.find(({ kind }) => kind === "TurnEnded")?.payload;
    expect(end).toMatchObject({
      outcome: "answered",
      text: "The tools say: notes.txt and 3 words",
      iterations: 2,
      usage: { input: 20, output: 10 },
    });
  });
});

describe("the programs of", () => {
  /** Each names its place in the second line. */
  async function lay(page: string): Promise<void> {
    for (const { language, text } of await blocksOf(ROOT, page)) {
      const [, place] = /^#!.*\n# (\S+)/.exec(text) ?? [];
      if (language !== "bash" || place === undefined) continue;
      const path = place.replace("~/.config/oxbow", join(engine.home, "config"));
      engine.bed.program(path, text.replace("/srv/oxbow-shared", join(engine.bed.outside, "shared")));
    }
    await engine.bed.approveAll({ extra: [join(engine.bed.outside, "shared")] });
  }

  verifies(["E1", "E2"], "docs/tools.md work", async (context) => {
    skipWithout(context, "python3");
    engine.bed.program(
      join(engine.bed.outside, "shared/tools/shared"),
      "#!/bin/sh\ncase $1 in --schema) echo '{\"input_schema\":{}}';; --exec) echo found;; esac\n",
    );
    spawnSync("git", ["init", "-q", "-b", "trunk", engine.bed.folder]);
    await lay("docs/tools.md");
    const calls = '  tool count_words {"text": "a b c"}\n  tool bash {"command": "git push"}\n  tool shared {}\n';
    await engine.open(`reply\n${calls}reply\n  text: Done.\n`);
    const results = resultsOf(await engine.turn("go"));
    expect(results).toEqual(["ok: 3", expect.stringContaining("Pushing is done by people here."), "ok: found"]);
    expect(engine.requests[0]).toContain("The current branch is trunk.");
    const payload = { namespace: "slash", verb: "hello", payload: { args: "Ann" } };
    const reply = JSON.stringify(await engine.client.send("CustomCommand", payload, engine.session));
    expect(reply).toContain("Hello, Ann.");
  });
});

describe("examples/extensions", () => {
  verifies(
    ["E2"],
    "tools/web_fetch fetches a page, and in the user's folder replaces the built-in one",
    async (context) => {
      skipWithout(context, "python3");
      const server = createServer((_request, response) => response.end("a page from Python"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
        const target = join(engine.home, "config/tools");
        mkdirSync(target, { recursive: true });
        cpSync(join(EXAMPLES, "extensions/tools/web_fetch"), join(target, "web_fetch"));
        await engine.bed.approveAll();
        await engine.open(
          `reply\n  tool web_fetch {"url": "${url}"}\n  tool web_fetch {"url": "file:///etc/passwd"}\nreply\n  text: Done.\n`,
        );
        const results = resultsOf(await engine.turn("go"));
        expect(results[0]).toBe("ok: a page from Python");
        expect(results[1]).toMatch(/^error: .*must begin with http/);
      } finally {
        server.close();
      }
    },
  );

  verifies(["E2", "L2"], "the cost tracker, the approval gate and the cost guard do what they say", async (context) => {
    skipWithout(context, "python3");
    await copy(
      "extensions/hooks.d/receive/60-cost",
      "extensions/hooks.d/tool_exec/05-approve",
      "extensions/hooks.d/assemble/60-G-cost-guard",
    );
    const push = 'reply\n  tool bash {"command": "git push"}\n  tool bash {"command": "make"}\n  tool ls {}\n';
    await engine.open(`${push}reply\n  text: Done.\n`);
    const events = await engine.turn("go");
    const results = resultsOf(events);
    expect(results[0]).toContain("Pushing is done by people here.");
    expect(results[1]).toContain("This project asks before every command.");
    expect(results[2]).toMatch(/^ok: /);
    const notices = JSON.stringify(events.filter(({ kind }) => kind === "Notice"));
    expect(notices).toMatch(/receive\/60-cost: \d+ tokens so far/);
    expect(engine.notes.filter((note) => /hook|tool/.test(note))).toEqual([]);
    const guard = join(EXAMPLES, "extensions/hooks.d/assemble/60-G-cost-guard");
    const run = (cost: string) => spawnSync(guard, { input: `{"a":1,"cost_usd":${cost},"b":2}`, encoding: "utf8" });
    expect([run("0.75").status, run("0.25").status, run("null").status]).toEqual([2, 0, 0]);
    expect(run("0.75").stderr).toBe("the turn has cost $0.75, and the limit is $0.50\n");
  });

  verifies(["E2"], "commands/todos lists comments", async () => {
    await copy("extensions/commands/todos");
    engine.bed.put("a.txt", "TODO: write it\n");
    await engine.open("reply\n  text: Done.\n");
    const payload = { namespace: "slash", verb: "todos", payload: { args: "" } };
    const reply = JSON.stringify(await engine.client.send("CustomCommand", payload, engine.session));
    expect(reply).toContain("a.txt:1:TODO: write it");
  });
});
