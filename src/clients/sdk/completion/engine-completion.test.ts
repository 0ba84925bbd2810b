import { expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import { ManualClock } from "../../../base/clock.js";
import type { EngineClient } from "../../../protocol/client.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { CommandInfo } from "../../../protocol/queries.js";
import { Composer } from "../../tui/input/composer.js";
import { BYTES, key, keys } from "../../tui/input/keys.testkit.js";
import type { Suggestions } from "./completion.js";
import { EngineCompletion } from "./engine-completion.js";

const command = (name: string, source?: string): CommandInfo => ({
  name,
  aliases: [],
  usage: `/${name}`,
  summary: `does ${name}`,
  arguments: source === undefined ? [] : [{ name: "NAME", source }],
  for_people: true,
  by_client: false,
  during_turn: false,
});

/** An engine that answers from lists, and counts how often it is asked. */
function engine() {
  const asked: string[] = [];
  const listeners = new Set<(event: Envelope) => void>();
  const lists = { commands: [command("model", "model"), command("resume", "session"), command("open", "file")] };
  const answers: Record<string, () => unknown> = {
    ListCommands: () => ({ commands: lists.commands }),
    ListModels: () => ({
      models: [
        { provider: "anthropic", model: "claude-x" },
        { provider: "openai", model: "gpt-x" },
      ],
      problems: [],
      routes: [{ name: "fast", models: ["openai:gpt-x"], enabled: true }],
    }),
    ListSessions: () => ({ sessions: [{ id: "sess_1", title: "fix it", cwd: "/" }] }),
    FindFiles: () => ({ paths: ["src/main.ts", "src/"] }),
  };
  const client = {
    query: async (kind: string) => {
      asked.push(kind);
      return { ok: true, answer: answers[kind]?.() };
    },
    subscribe: (listener: (event: Envelope) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as EngineClient;
  const emit = (kind: string) => {
    for (const listener of listeners) listener({ kind } as Envelope);
  };
  return { client, asked, lists, emit };
}

async function open() {
  const clock = new ManualClock();
  const { client, ...rest } = engine();
  const completion = new EngineCompletion({ client, clock, session: () => undefined });
  completion.start();
  await new Promise(setImmediate);
  const values = async (line: string): Promise<readonly string[]> => {
    const found: Suggestions | undefined = await completion.source.suggest({
      line,
      column: line.length,
      isFirstLine: true,
    });
    return found?.items.map(({ value }) => value) ?? [];
  };
  return { ...rest, clock, values };
}

verifies(["U6"], "models, routes, sessions and files complete by name", async () => {
  const { values } = await open();
  expect(await values("/model ")).toEqual(["@fast", "anthropic:claude-x", "openai:gpt-x"]);
  expect(await values("/model openai:")).toEqual(["openai:gpt-x"]);
  expect(await values("/resume ")).toEqual(["sess_1"]);
  expect(await values("/open ma")).toEqual(["src/main.ts"]);
  expect(await values("see @ma")).toEqual(["@src/main.ts", "@src/"]);
  expect((await values("@fa"))[0]).toBe("@fast");
});

verifies(["U6"], "commands are requested again when the skills change, and lists are cached", async () => {
  const { values, asked, lists, emit, clock } = await open();
  expect(await values("/skills:")).toEqual([]);
  lists.commands = [...lists.commands, command("skills:review")];
  emit("TurnStarted");
  expect(await values("/skills:")).toEqual([]);
  emit("SkillRegistryChanged");
  await new Promise(setImmediate);
  expect(await values("/skills:")).toEqual(["/skills:review"]);
  for (let step = 0; step < 5; step++) await values("/model ");
  expect(asked.filter((kind) => kind === "ListModels")).toHaveLength(1);
  clock.advance(60_000);
  await values("/model ");
  expect(asked.filter((kind) => kind === "ListModels")).toHaveLength(2);
});

verifies(
  ["U6"],
  "asks for the commands again after a moment, so that one which was just approved is there",
  async () => {
    const { values, lists, clock } = await open();
    expect(await values("/expl")).toEqual([]);
    lists.commands = [...lists.commands, command("explain")];
    clock.advance(2000);
    await values("/exp");
    await new Promise(setImmediate);
    expect(await values("/expl")).toEqual(["/explain"]);
  },
);

verifies(["U6"], "tab works even before the engine has sent its commands", async () => {
  const { client } = engine();
  const completion = new EngineCompletion({ client, clock: new ManualClock(), session: () => undefined });
  completion.start();
  const composer = new Composer({
    clock: new ManualClock(),
    completion: completion.source,
    onChange() {},
    onSubmit() {},
  });
  for (const each of [...keys("/mod"), key(BYTES.tab)]) expect(composer.onKey(each)).toBe(true);
  expect(composer.text).toBe("/mod");
  await new Promise(setImmediate);
  expect(composer.text).toBe("/model ");
});

verifies(["U6"], "an idle client does not ask for the commands: the first slash does", async () => {
  const { values, asked, emit } = await open();
  emit("SkillRegistryChanged");
  await new Promise(setImmediate);
  expect(await values("hello")).toEqual([]);
  expect(asked).not.toContain("ListCommands");
  expect(await values("/mod")).toEqual(["/model"]);
  expect(asked).toContain("ListCommands");
});

it("offers nothing for what has no list", async () => {
  const { values } = await open();
  expect(await values("/open nothing-like-it")).toEqual([]);
});
