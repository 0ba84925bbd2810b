import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import type { CommandInfo } from "../../../protocol/queries.js";
import { commandCompletion } from "../../sdk/completion/command-completion.js";
import { firstOf } from "../../sdk/completion/completion.js";
import { fileCompletion } from "../../sdk/completion/file-completion.js";
import { Composer, type Submission } from "./composer.js";
import { BYTES, key, keys, plainTheme } from "./keys.testkit.js";

const command = (name: string, more: Partial<CommandInfo> = {}): CommandInfo => {
  const usual = { aliases: [], arguments: [], for_people: true, by_client: false, during_turn: true };
  return { name, usage: `/${name}`, summary: `does ${name}`, ...usual, ...more };
};

const COMMANDS = [
  command("cost"),
  command("compact", { arguments: [{ name: "WORDS", optional: true }] }),
  command("mode", { arguments: [{ name: "MODE", choices: ["ask", "auto", "plan"] }] }),
  command("model", { arguments: [{ name: "NAME", optional: true, source: "model" }] }),
  command("read", { arguments: [{ name: "FILE", rest: true, source: "file" }] }),
  command("note", { arguments: [{ name: "TEXT", rest: true, choices: ["finding", "question"] }] }),
  command("skills:gofastr-ui"),
  command("skills:gofastr-cli"),
];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  model: ["openai:gpt-5", "openai:gpt-4"],
  file: ["docs/", "docs/a.md", "src/layout.txt"],
};

const FILES = ["src/main.ts", "src/my file.ts", "src/", "docs/evil\u202e\u001b[31m.md"];

function open() {
  const sent: Submission[] = [];
  const completion = firstOf(
    commandCompletion({
      commands: () => COMMANDS,
      values: async (source) => (VALUES[source] ?? []).map((value) => ({ value })),
    }),
    fileCompletion({
      find: async (query) => FILES.filter((path) => path.includes(query)).map((path) => ({ path })),
      routes: () => [{ name: "fast", about: "gpt-5" }],
    }),
  );
  const clock = new ManualClock();
  const composer = new Composer({ clock, completion, onChange() {}, onSubmit: (submission) => sent.push(submission) });
  return {
    composer,
    sent,
    press: (...data: readonly string[]) => {
      for (const each of data) composer.onKey(key(each));
    },
    type: async (text: string) => {
      for (const each of keys(text)) composer.onKey(each);
      await new Promise(setImmediate);
    },
    list: (width = 60) => composer.view(width, 12, plainTheme).lines.slice(1),
  };
}

describe("commands", () => {
  verifies(["U6"], "/ opens a palette with descriptions and argument hints", async () => {
    const { type, list } = open();
    await type("/");
    expect(list()).toEqual([
      "> /cost                    does cost",
      "  /compact [WORDS]         does compact",
      "  /mode ask|auto|plan      does mode",
      "  /model [NAME]            does model",
      "  /read FILE…              does read",
      "  /note finding|question…  does note",
      "  /skills:                 gofastr-ui, gofastr-cli",
    ]);
    for (const width of [10, 20, 40]) {
      for (const line of list(width)) expect(line.length, line).toBeLessThanOrEqual(width);
    }
  });

  verifies(["U6"], "tab follows the contract", async () => {
    const { composer, press, type, list } = open();
    await type("/sk");
    press(BYTES.tab);
    expect(composer.text).toBe("/skills:");
    expect(list()).toHaveLength(2);
    await type("go");
    press(BYTES.tab);
    expect(composer.text).toBe("/skills:gofastr-");
    await type("c");
    press(BYTES.tab);
    expect(composer.text).toBe("/skills:gofastr-cli");
  });

  it("enter runs the chosen command, and continues the completion if it needs an argument", async () => {
    const run = open();
    await run.type("/cos");
    run.press(BYTES.enter);
    expect(run.composer.text).toBe("/cost");
    expect(run.sent).toEqual([]);
    run.press(BYTES.enter);
    expect(run.sent.map(({ sent }) => sent)).toEqual([{ kind: "slash", name: "cost", rest: "" }]);
    const needs = open();
    await needs.type("/");
    needs.press(BYTES.down, BYTES.down, BYTES.enter);
    expect(needs.composer.text).toBe("/mode ");
    expect(needs.sent).toEqual([]);
    await needs.type("au");
    needs.press(BYTES.enter);
    expect(needs.composer.text).toBe("/mode auto ");
    needs.press(BYTES.enter);
    expect(needs.sent.map(({ sent }) => sent)).toEqual([{ kind: "slash", name: "mode", rest: "auto" }]);
  });

  it("enter sends an unknown command as it was typed, although another one resembles it", async () => {
    const { sent, press, type } = open();
    await type("/sgo");
    press(BYTES.enter);
    expect(sent.map(({ sent }) => sent)).toEqual([{ kind: "slash", name: "sgo", rest: "" }]);
    const moved = open();
    await moved.type("/ost");
    moved.press(BYTES.down, BYTES.up, BYTES.enter);
    expect(moved.sent.map(({ sent }) => sent)).toEqual([{ kind: "slash", name: "cost", rest: "" }]);
  });

  it("enter sends what is complete as it is", async () => {
    const { sent, press, type } = open();
    await type("/mode");
    press(BYTES.enter);
    await type("/model ");
    press(BYTES.enter);
    await type("/model gpt-4");
    press(BYTES.enter);
    expect(sent.map(({ text }) => text)).toEqual(["/mode", "/model", "/model gpt-4"]);
  });

  it("enter sends an argument that needs no suggestion, and tab completes it", async () => {
    const { composer, sent, press, type } = open();
    const lines = [
      "/read docs",
      "/read docs/a",
      "/read out.txt",
      "/note decision use q",
      "/model gpt-4",
      "/model openai:gpt-4",
      "@src",
      "see @src/main.ts",
    ];
    for (const line of lines) {
      await type(line);
      press(BYTES.enter);
    }
    expect(sent.map(({ text }) => text)).toEqual(lines);
    await type("/read docs/a");
    press(BYTES.tab);
    expect(composer.text).toBe("/read docs/a.md ");
  });

  it("enter takes an entry that the user moved to, also where the typed text is complete", async () => {
    const { composer, sent, press, type } = open();
    await type("/mode");
    press(BYTES.down, BYTES.enter);
    await type("/model ");
    press(BYTES.down, BYTES.enter);
    expect(composer.text).toBe("/model openai:gpt-4 ");
    press(BYTES.enter);
    await type("/read docs");
    press(BYTES.down, BYTES.enter);
    expect(composer.text).toBe("/read docs/a.md ");
    press(BYTES.enter);
    expect(sent.map(({ text }) => text)).toEqual(["/model", "/model openai:gpt-4", "/read docs/a.md"]);
  });

  it("escape closes it for this word, and then is left to others", async () => {
    const { composer, press, type, list } = open();
    await type("/mo");
    expect(composer.onKey(key(BYTES.escape))).toBe(true);
    expect(list()).toEqual([]);
    expect(composer.onKey(key(BYTES.escape))).toBe(false);
    await type("d");
    expect(list()).toEqual([]);
    press(BYTES.killLineStart);
    await type("/mo");
    expect(list()).toEqual(["> /mode ask|auto|plan  does mode", "  /model [NAME]        does model"]);
  });
});

describe("files", () => {
  it("completes a mention anywhere, with quotation marks where it has spaces", async () => {
    const { composer, press, type } = open();
    await type("look at @ma");
    press(BYTES.tab);
    expect(composer.text).toBe("look at @src/main.ts ");
    await type("and @my");
    press(BYTES.enter);
    expect(composer.text).toBe('look at @src/main.ts and @"src/my file.ts" ');
  });

  it("continues inside a folder, and shows no name that could move the cursor", async () => {
    const { composer, press, type, list } = open();
    await type("in @src");
    press(BYTES.down, BYTES.down, BYTES.tab);
    expect(composer.text).toBe("in @src/");
    press(BYTES.killLineStart);
    await type("@evil");
    expect(list().join("")).not.toMatch(/[\x1b\u202e]/);
    press(BYTES.tab);
    expect(composer.text).not.toMatch(/\x1b/);
  });

  it("knows routes at the very begin", async () => {
    const { type, list } = open();
    await type("@fa");
    expect(list()).toEqual(["> @fast  gpt-5"]);
    await type(" and @fa");
    expect(list()).toEqual([]);
  });

  it("leaves addresses alone", async () => {
    const { type, list } = open();
    await type("mail me@src");
    expect(list()).toEqual([]);
  });

  it("never shows an answer that came too late", async () => {
    const { composer, press, type, list } = open();
    for (const each of keys("@src")) composer.onKey(each);
    press(BYTES.killLineStart);
    await type("x");
    expect(list()).toEqual([]);
  });
});
