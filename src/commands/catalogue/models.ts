/** `models`, `route`, `bench` and `ollama`: in a conversation and as `oxbow NAME`. */
import type { Argument, CommandPlace, CommandSpec, CommandUser } from "../command.js";

const EVERYONE: readonly CommandUser[] = ["people", "agents"];
const PEOPLE: readonly CommandUser[] = ["people"];
const ANYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const ROUTE: Argument = { name: "NAME", kind: "text", complete: "route" };
const LOCAL_MODEL: Argument = { name: "NAME", kind: "text", complete: "model" };

export const MODELS_NAMESPACE = { models: "the models that can be used now, and what they can do" };

export const MODELS_LIST: CommandSpec = {
  name: "models:list",
  aliases: ["models"],
  summary: "list the models of every provider that is ready, or of one, and what the others need",
  arguments: [{ name: "PROVIDER", kind: "text", optional: true, complete: "provider" }],
  flags: [{ name: "refresh", reaches: "user", help: "fetch the newest limits and prices (from models.dev) first" }],
  reaches: "session",
  users: EVERYONE,
  places: ANYWHERE,
};

export const ABILITIES_FLAGS = [
  { name: "only", value: "ABILITY[,…]", help: "measure only these abilities" },
  {
    name: "context",
    value: "TOKENS",
    help: "test the context up to this size (default 16000; larger sizes take long)",
  },
  { name: "show", help: "show the last result, without asking the model" },
  { name: "forget", help: "delete the result: the model gets the full prompt and all tools again" },
] as const;

/** It costs money and changes what the model gets. */
export const MODELS_TEST: CommandSpec = {
  name: "models:test",
  summary: "measure what a model can really do",
  arguments: [{ name: "MODEL", kind: "text", complete: "model" }],
  flags: ABILITIES_FLAGS,
  reaches: "user",
  users: ["people", "agents in the shell"],
  places: ["between turns", "without a session"],
};

export const ROUTE_NAMESPACE = {
  route: "name models: '@NAME …' uses one for a single turn; several give failover",
};

export const ROUTE_LIST: CommandSpec = {
  name: "route:list",
  aliases: ["route"],
  summary: "list the routes",
  users: ["people", "agents in the shell"],
  reaches: "user",
  places: ANYWHERE,
};

export const ROUTE_ADD: CommandSpec = {
  name: "route:add",
  summary: "add a route for a model, or for several that Oxbow tries in order",
  arguments: [
    { name: "NAME", kind: "text" },
    { name: "MODEL", kind: "text", rest: "list", complete: "model" },
  ],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const ROUTE_REMOVE: CommandSpec = {
  name: "route:remove",
  summary: "remove a route",
  arguments: [ROUTE],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const ROUTE_ENABLE: CommandSpec = {
  name: "route:enable",
  summary: "switch a route on",
  arguments: [ROUTE],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const ROUTE_DISABLE: CommandSpec = {
  name: "route:disable",
  summary: "switch a route off and keep it",
  arguments: [ROUTE],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const BENCH: CommandSpec = {
  name: "bench",
  usage: "/bench [MODEL…] [--runs N] [--prompt TEXT]",
  summary: "measure how fast models answer: those named, or the installed ones",
  arguments: [{ name: "MODEL", kind: "text", optional: true, rest: "list", complete: "model" }],
  flags: [
    { name: "prompt", short: "p", value: "TEXT", help: "the prompt (default: a request for a short explanation)" },
    { name: "runs", short: "n", value: "N", help: "how often to run each model; the median counts (default 1)" },
    { name: "max-tokens", value: "N", help: "the longest answer in tokens (default 256)" },
  ],
  users: EVERYONE,
  reaches: "user",
  places: ["between turns", "without a session"],
};

export const OLLAMA_NAMESPACE = { ollama: "control the local Ollama service and its models" };

type OllamaSpec = Pick<CommandSpec, "summary" | "arguments" | "aliases"> & Partial<Pick<CommandSpec, "users">>;

/** Starting a service and loading models takes the memory and the disk of the user, so an agent may only look. */
const ollama = (action: string, spec: OllamaSpec): CommandSpec => ({
  reaches: "user",
  name: `ollama:${action}`,
  users: ["people"],
  places: ANYWHERE,
  ...spec,
});

export const OLLAMA_STATUS = ollama("status", {
  aliases: ["ollama"],
  users: EVERYONE,
  summary: "whether it answers, and which models are in memory (the default)",
});
export const OLLAMA_LIST = ollama("list", { users: EVERYONE, summary: "list the installed models" });
export const OLLAMA_START = ollama("start", { summary: "start 'ollama serve' in the background and wait for it" });
export const OLLAMA_STOP = ollama("stop", { summary: "stop it, if Oxbow started it" });
export const OLLAMA_USE = ollama("use", { summary: "load a model and use it", arguments: [LOCAL_MODEL] });
export const OLLAMA_PULL = ollama("pull", {
  summary: "download a model; the same command resumes after Ctrl-C",
  arguments: [{ name: "NAME", kind: "text" }],
});
