import { describe, expect } from "vitest";
import { call, calls, ok, says, scriptedModel, testEngine, tool } from "../../test/support/engine.js";
import { verifies } from "../../test/verifies.js";
import type { Tool } from "../engine/ports.js";
import { plainText } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";

const SECRET = `gh${"p_"}${"aB3dE6gH9kL2".repeat(3)}`;

async function outcomeOf(definition: Tool, args: JsonObject = {}) {
  const model = scriptedModel([calls(call(definition.name, args)), says("done")]);
  const engine = testEngine({ model, tools: [definition] });
  await engine.turn("go");
  const result = engine.events.find((event) => event.kind === "ToolResult");
  if (result?.kind !== "ToolResult") throw new Error("no result");
  const shown = engine.events.map((event) => (event.kind === "ToolCallProgress" ? event.payload.text : "")).join("");
  return {
    payload: result.payload,
    words: plainText(result.payload.content),
    shown,
    sent: JSON.stringify(model.requests),
  };
}

describe("the redact link", () => {
  verifies(["S4"], "hides secrets in a result, its details and what the model gets", async () => {
    const details = { lines: [`a ${SECRET}`, 3], inner: { token: SECRET, none: null } };
    const definition = tool("show", async () => ({ ...ok(`token: ${SECRET}\nend`), details }));
    const { payload, words, sent } = await outcomeOf(definition);
    expect(words).toBe("token: «redacted:github»\nend");
    expect(payload.details).toEqual({
      lines: ["a «redacted:github»", 3],
      inner: { token: "«redacted:github»", none: null },
    });
    expect(sent).not.toContain(SECRET);
  });

  verifies(["S4"], "hides a secret that is shown live in pieces, and loses nothing else", async () => {
    const definition = tool("show", async (_args, context) => {
      context.progress("one ");
      await new Promise((resolve) => setImmediate(resolve));
      for (const piece of [`two ${SECRET.slice(0, 9)}`, SECRET.slice(9, 20), `${SECRET.slice(20)} three`, "\nfour"])
        context.progress(piece);
      return ok("");
    });
    expect((await outcomeOf(definition)).shown).toBe("one two «redacted:github» three\nfour");
  });

  verifies(["S4"], "hides secrets in the message of a tool that throws", async () => {
    const definition = tool("fail", async () => {
      throw new Error(`cannot reach https://me:${SECRET}@host`);
    });
    expect((await outcomeOf(definition)).words).toBe("cannot reach https://me:«redacted:github»@host");
  });

  verifies(["S4"], "does not let a marker be written where the secret was", async () => {
    let runs = 0;
    const write = tool("write", async () => ok(String(++runs)), { set: "edit", mutating: true });
    const refused = await outcomeOf(write, { path: "a", edits: [{ old: "k=«redacted:github»", new: "k=1" }] });
    expect(refused.payload.status).toBe("error");
    expect(refused.words).toContain("stands for a secret");
    expect(runs).toBe(0);
    expect((await outcomeOf(write, { path: "a", content: "a template: «redacted:KIND»" })).words).toBe("1");
    const read = tool("grep", async () => ok("found"));
    expect((await outcomeOf(read, { pattern: "«redacted:github»" })).words).toBe("found");
  });
});
