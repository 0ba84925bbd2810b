/** What `oxbow NAME` takes, for completion. Modules are loaded for the command that is being completed only. */
import * as cost from "../../commands/catalogue/cost.js";
import * as models from "../../commands/catalogue/models.js";
import * as security from "../../commands/catalogue/security.js";
import type { Argument, CommandSpec, CompletionSource } from "../../commands/command.js";
import type { Flag } from "../../commands/flags.js";
import { COMMANDS } from "../command-table.js";
import { RUN_FLAGS } from "../commands/run-flags.js";

const COMMON: readonly Flag[] = [
  { name: "json", help: "print the result as JSON" },
  { name: "help", short: "h", help: "show this help" },
];
const EVERYWHERE = { users: ["people", "agents"], places: ["without a session"] } as const;

/** The commands that a first word stands for. A word that names none begins a prompt with its flags. */
export async function specsOf(name: string, words: readonly string[]): Promise<readonly CommandSpec[]> {
  const load = LOADERS[name];
  if (load !== undefined) return load(words);
  const known = COMMANDS.find((command) => command.name === name);
  return [spec(known?.name ?? "run", known === undefined ? RUN_FLAGS : [])];
}

const LOADERS: Readonly<Record<string, (words: readonly string[]) => Promise<readonly CommandSpec[]>>> = {
  __proto__: null as never,
  run: async () => [spec("run", RUN_FLAGS)],
  debug: async () => [spec("debug", (await import("../commands/debug.js")).FLAGS)],
  route: async () => inShell(models, "route"),
  bench: async () => inShell(models, "bench"),
  ollama: async () => inShell(models, "ollama"),
  cost: async () => inShell(cost, "cost"),
  permissions: async () => [...inShell(security, "permissions"), ...inShell(security, "safemode")],
  models: async () => [
    spec("models", (await import("../commands/models.js")).FLAGS, [argument("PROVIDER", "provider")]),
    spec("models:test", (await import("../commands/models-test.js")).FLAGS, [argument("MODEL", "model")]),
  ],
  tools: async () => [spec("tools", (await import("../commands/tools.js")).FLAGS)],
  config: async () => [spec("config:show", (await import("../commands/config.js")).FLAGS)],
  doctor: async () => [spec("doctor", (await import("../commands/doctor.js")).FLAGS)],
  ack: async () => [spec("ack", (await import("../commands/ack.js")).FLAGS)],
  "verify-ack": async () => [spec("verify-ack", (await import("../commands/verify-ack.js")).FLAGS)],
  auth: async () => keySpecs("auth", (await import("../commands/auth/actions.js")).AUTH_ACTIONS),
  creds: async () => keySpecs("creds", (await import("../commands/auth/actions.js")).CREDS_ACTIONS),
  session: sessionSpecs,
  completion: async () => [spec("completion", COMMON.slice(1), [choices("SHELL", ["bash", "zsh", "fish"])])],
  help: async () => [spec("help", [], [choices("COMMAND", [...COMMANDS.map(({ name }) => name), "environment"])])],
};

function inShell(subject: Readonly<Record<string, unknown>>, first: string): readonly CommandSpec[] {
  return Object.values(subject)
    .filter((value): value is CommandSpec => typeof value === "object" && value !== null && "places" in value)
    .filter(({ name, places }) => name.split(":")[0] === first && places.includes("without a session"))
    .map((each) => ({ ...each, shellFlags: [...(each.shellFlags ?? []), ...COMMON] }));
}

interface Action {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly flags: readonly Flag[];
}

function keySpecs(name: string, actions: readonly Action[]): readonly CommandSpec[] {
  return actions.map((action) => actionSpec(name, action, [...action.flags, ...COMMON.slice(1)]));
}

/** Loads the flags of the action that the words name, and no other. */
async function sessionSpecs(words: readonly string[]): Promise<readonly CommandSpec[]> {
  const { ACTIONS, COMMON: shared } = await import("../commands/session.js");
  return Promise.all(
    ACTIONS.map(async (entry) => {
      const flags = words.includes(entry.name) ? (await entry.load()).action.flags : [];
      return actionSpec("session", { ...entry, flags }, [...flags, ...shared]);
    }),
  );
}

/** What the capital words of a usage line stand for. */
const WORDS: Readonly<Record<string, CompletionSource>> = {
  ID: "session",
  OTHER: "session",
  FILE: "file",
  PROVIDER: "provider",
};

function actionSpec(namespace: string, { name, summary, usage }: Action, flags: readonly Flag[]): CommandSpec {
  const named = usage.split(" ").flatMap((word) => {
    const source = WORDS[word.replace(/[^A-Z]/g, "")];
    return source === undefined || word.startsWith("-") ? [] : [argument(word, source)];
  });
  return spec(`${namespace}:${name}`, flags, named, summary);
}

function spec(name: string, flags: readonly Flag[], wanted: readonly Argument[] = [], summary = ""): CommandSpec {
  return { name, summary, arguments: wanted, shellFlags: flags, ...EVERYWHERE };
}

function argument(name: string, complete: CompletionSource): Argument {
  return { name, kind: "text", optional: true, complete };
}

function choices(name: string, complete: readonly string[]): Argument {
  return { name, kind: "choice", optional: true, complete };
}
