import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { executable } from "../wire/executable.js";
import { converse } from "../wire/test-support/converse.js";
import { createExecutableModel } from "./model.js";
import { createOutputDecoder } from "./output.js";

const guide = readFileSync(new URL("../../../docs/own-provider.md", import.meta.url), "utf8");
const examples = [...guide.matchAll(/```json-(?:lines|answer)\n(.*?)```/gs)].map((match) => match[1] ?? "");

describe("[M2] the guide to executable providers", () => {
  it.each(examples)("shows output that is understood:\n%s", (output) => {
    const decoder = createOutputDecoder();
    const frames = [...decoder.push(Buffer.from(output)), ...decoder.end()];
    let state = executable.initial({ provider: "own", family: "own", model: "m", url: "", tools: [] });
    const events = frames.flatMap((frame) => {
      const step = executable.step(state, frame);
      state = step.state;
      return step.events;
    });
    const ends = events.filter(({ type }) => type === "stop" || type === "failure");
    expect(ends).toEqual([events.at(-1)]);
    expect(events.at(-1)?.type).toBe(output.includes('"error"') ? "failure" : "stop");
    expect(JSON.stringify(events)).not.toMatch(/not JSON|neither/);
  });

  it("has an example that runs through a loop with a tool", async () => {
    const model = createExecutableModel({
      provider: "parrot",
      path: fileURLToPath(new URL("../../../examples/providers/parrot.mjs", import.meta.url)),
      model: "grey",
      cwd: tmpdir(),
      env: { PATH: process.env.PATH ?? "", PARROT_VOICE: "Ahoy," },
    });
    const tools = [{ name: "read", description: "Reads.", inputSchema: { type: "object" } }];
    const run = () => [{ type: "text" as const, text: "two lines" }];
    const ask = (text: string) =>
      converse(model, { tools, run, messages: [{ role: "user", content: [{ type: "text", text }] }] });
    const read = await ask("read a.txt");
    expect(read.text).toBe("read said: two lines");
    expect(read.messages[1]?.content).toMatchObject([{ type: "thinking" }, { tool: "read", args: { path: "a.txt" } }]);
    expect((await ask("you there")).text).toBe("Ahoy, you there");
  });
});
