/** A tool that appears during a session is usable after one look by a person. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import type { EventPayloads, PermissionDecision } from "../../src/protocol/events.js";
import { ExtendedEngine, resultsOf } from "../support/extended-engine.js";
import { verifies } from "../verifies.js";

let engine: ExtendedEngine;
beforeEach(() => {
  engine = new ExtendedEngine();
});
afterEach(() => engine.close());

const TOOL = `#!/bin/bash
case $1 in --schema) echo '{"input_schema":{}}';; --exec) echo it works;; esac
`;
const WRITE = JSON.stringify({ path: ".oxbow/tools/fresh", content: TOOL });
const SCRIPT = `reply\n  tool write ${WRITE}\nreply\n  tool fresh {}\nreply\n  text: Done.\n`;

/** Answers every question about a new file the same way, and remembers what it was asked. */
function answer(decision: PermissionDecision): readonly EventPayloads["PermissionRequested"][] {
  const { client, session } = engine;
  const asked: EventPayloads["PermissionRequested"][] = [];
  client.subscribe((event) => {
    if (event.kind !== "PermissionRequested") return;
    const question = event.payload as EventPayloads["PermissionRequested"];
    asked.push(question);
    const given = question.tool === "approve" ? decision : "allow_once";
    void client.send("AnswerPermission", { call: question.call, decision: given }, session);
  });
  return asked;
}

const NO_FLAG = { content: { allowProjectHooks: false }, user: "present" } as const;

describe("a tool that the model writes", () => {
  verifies(["E7", "P10", "P14"], "is shown to the user, and works in the same turn once approved", async () => {
    await engine.open(SCRIPT, NO_FLAG);
    const asked = answer("allow_once");
    const results = resultsOf(await engine.turn("extend yourself"));
    expect(results.at(-1)).toBe("ok: it works");
    const [question, ...more] = asked.filter(({ tool }) => tool === "approve");
    expect(question).toMatchObject({ summary: "approve the tool .oxbow/tools/fresh", once_only: true });
    expect(question?.preview).toContain("echo it works");
    expect(more).toEqual([]);
    expect(engine.notes.filter((note) => note.includes("fresh"))).toEqual([]);
  });

  verifies(
    ["E7", "P14"],
    "is shown again in another session, because an approval does not replace the flag",
    async () => {
      const path = engine.bed.program(".oxbow/tools/fresh", TOOL);
      await engine.bed.approveAll();
      rmSync(path);
      await engine.open(SCRIPT, NO_FLAG);
      const asked = answer("allow_once");
      expect(resultsOf(await engine.turn("extend yourself")).at(-1)).toBe("ok: it works");
      expect(asked.filter(({ tool }) => tool === "approve")).toHaveLength(1);
    },
  );

  verifies(["E7"], "stays off when the user says no, and is asked about again only when it changes", async () => {
    await engine.open(`${SCRIPT}reply\n  text: One.\nreply\n  text: Two.\n`, NO_FLAG);
    const asked = answer("deny");
    const results = resultsOf(await engine.turn("extend yourself"));
    expect(results.at(-1)).toContain('There is no tool "fresh"');
    const before = asked.length;
    await engine.turn("again");
    expect(asked.length).toBe(before);
    writeFileSync(join(engine.bed.folder, ".oxbow/tools/fresh"), `${TOOL}# changed\n`);
    await engine.turn("again");
    expect(asked.length).toBe(before + 1);
  });

  verifies(["E7", "P11"], "is skipped with a notice where no person can look", async () => {
    await engine.open(SCRIPT);
    const results = resultsOf(await engine.turn("extend yourself"));
    expect(results.at(-1)).not.toContain("it works");
    engine.bed.program(".oxbow/tools/other", TOOL);
    const asked = answer("allow_once");
    await engine.turn("again");
    expect(asked.filter(({ tool }) => tool === "approve")).toEqual([]);
    expect(engine.notes.join("\n")).toMatch(/Skipped because it is not approved: .*other/);
  });
});
