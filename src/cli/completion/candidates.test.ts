import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { programSummary } from "../../runtime/commands/catalogue.js";
import { COMMANDS } from "../command-table.js";
import { RUN_FLAGS } from "../commands/run-flags.js";
import { type Candidate, candidatesFor } from "./candidates.js";
import { specsOf } from "./world.js";

const SOURCES: Readonly<Record<string, readonly Candidate[]>> = {
  model: [{ value: "ollama:qwen3:8b" }, { value: "openai:gpt-5" }, { value: "bad:$(touch x)" }, { value: "bad:a b" }],
  session: [{ value: "sess_1", about: "a title" }],
  route: [{ value: "fast" }],
  provider: [{ value: "openai" }],
  command: COMMANDS.map(({ name }) => ({ value: name })),
};

async function complete(...words: string[]): Promise<readonly string[] | string> {
  const found = await candidatesFor(words, {
    commands: COMMANDS.map((command) => ({ ...command, summary: programSummary(command.name) })),
    specsOf,
    slashNames: async () => [{ value: "/cost" }, { value: "/compact" }],
    valuesOf: async (source) =>
      source === "file" ? ":files" : source === "folder" ? ":folders" : (SOURCES[source] ?? []),
  });
  return typeof found === "string" ? found : found.map(({ value }) => value);
}

describe("completion", () => {
  verifies(["U10"], "knows commands, actions, flags and values", async () => {
    expect(await complete("")).toEqual(COMMANDS.map(({ name }) => name));
    expect(await complete("/co")).toEqual(["/cost", "/compact"]);
    expect(await complete("route", "")).toEqual(expect.arrayContaining(["list", "add", "remove", "enable", "disable"]));
    expect(await complete("route", "remove", "")).toEqual(["fast"]);
    expect(await complete("route", "add", "x", "o")).toEqual(["ollama:qwen3:8b", "openai:gpt-5"]);
    expect(await complete("route", "add", "x", "openai:gpt-5", "ol")).toEqual(["ollama:qwen3:8b"]);
    expect(await complete("permissions", "s")).toEqual(expect.arrayContaining(["set", "safemode"]));
    expect(await complete("permissions", "safemode", "of")).toEqual(["off"]);
    expect(await complete("session", "show", "")).toEqual(["sess_1"]);
    expect(await complete("session", "import", "")).toBe(":files");
    expect(await complete("session", "show", "--t")).toEqual(["--turn"]);
    expect(await complete("auth", "s")).toEqual(["set"]);
    expect(await complete("auth", "set", "o")).toEqual(["openai"]);
    expect(await complete("models", "test", "oll")).toEqual(["ollama:qwen3:8b"]);
    expect(await complete("cost", "--by", "")).toEqual(["model", "provider", "day", "project", "session", "variant"]);
    expect(await complete("cost", "--by=d")).toEqual(["--by=day"]);
    expect(await complete("cost", "--cwd", "")).toBe(":folders");
    expect(await complete("config", "s")).toEqual(["show", "set"]);
    expect(await complete("completion", "z")).toEqual(["zsh"]);
    expect(await complete("help", "perm")).toEqual(["permissions"]);
  });

  verifies(["U10"], "knows the flags of a prompt, with and without 'run'", async () => {
    const shown = RUN_FLAGS.filter(({ hidden }) => hidden !== true).map(({ name }) => `--${name}`);
    expect(await complete("--")).toEqual(shown);
    expect(await complete("run", "--")).toEqual(shown);
    expect(await complete("fix the tests", "--effort", "")).toEqual(["low", "medium", "high"]);
    expect(await complete("--model", "open")).toEqual(["openai:gpt-5"]);
    expect(await complete("-m", "open")).toEqual(["openai:gpt-5"]);
    expect(await complete("--image", "")).toBe(":files");
  });

  verifies(["U10"], "offers nothing that a shell would run, and every command can be completed", async () => {
    expect(await complete("--model", "bad")).toEqual([]);
    for (const { name } of COMMANDS) expect(Array.isArray(await complete(name, "--")), name).toBe(true);
    for (const name of ["__proto__", "constructor", "toString"]) expect(await complete(name, "")).toEqual([]);
  });
});
