/** Commands about retrieval stores. */
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const PEOPLE: readonly CommandUser[] = ["people"];
const EVERYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
const FOLDER: Flag = { name: "cwd", value: "DIR", complete: "folder", help: "the folder (default: the current one)" };
const STORE: Flag = { name: "in", value: "NAME", help: "the store (default: the one that is on in this folder)" };
const EMBED: Flag = {
  name: "embed",
  value: "MODEL",
  help: "the embedding model, PROVIDER:NAME; a name alone is one of Ollama's (default: none, search by words)",
};

const shared = { users: PEOPLE, places: EVERYWHERE, reaches: "user", shellFlags: [FOLDER] } as const;

export const RAG_NAMESPACE = { rag: "stores of your own documents, which the model gets passages from" };

export const RAG_LIST: CommandSpec = {
  name: "rag:list",
  aliases: ["rag"],
  summary: "list the stores, and which one is on here",
  ...shared,
};

export const RAG_NEW: CommandSpec = {
  name: "rag:new",
  summary: "make a store; with --embed it is also searched by meaning",
  arguments: [{ name: "NAME", kind: "text" }],
  flags: [EMBED],
  ...shared,
};

export const RAG_INGEST: CommandSpec = {
  name: "rag:ingest",
  summary: "read files, folders, patterns or addresses into a store; without any, read the known ones again",
  arguments: [{ name: "SOURCE", kind: "path", optional: true, rest: "list", complete: "file" }],
  flags: [STORE],
  ...shared,
};

export const RAG_STATUS: CommandSpec = {
  name: "rag:status",
  summary: "show what a store holds, its model, its size and what is unfinished",
  arguments: [{ name: "NAME", kind: "text", optional: true }],
  ...shared,
};

export const RAG_QUERY: CommandSpec = {
  name: "rag:query",
  summary: "show the passages that the model would get for a question",
  arguments: [{ name: "QUESTION", kind: "text", rest: "text" }],
  flags: [
    STORE,
    { name: "top", value: "N", help: "how many passages (default 5)" },
    { name: "min", value: "SCORE", help: "the minimum similarity: cosine, or share of the words found (default 0.3)" },
    {
      name: "by",
      value: "HOW",
      choices: ["both", "words", "vectors"],
      help: "search by words, vectors or both (default)",
    },
  ],
  ...shared,
};

export const RAG_ON: CommandSpec = {
  name: "rag:on",
  summary: "give the model passages of a store with each input in this folder",
  arguments: [{ name: "NAME", kind: "text", optional: true }],
  ...shared,
};

export const RAG_OFF: CommandSpec = {
  name: "rag:off",
  summary: "give the model no passages in this folder",
  ...shared,
};

export const RAG_DROP: CommandSpec = {
  name: "rag:drop",
  summary: "delete a store, or one source with its documents",
  arguments: [
    { name: "NAME", kind: "text" },
    { name: "SOURCE", kind: "text", optional: true },
  ],
  flags: [{ name: "yes", short: "y", help: "do not ask" }],
  ...shared,
};

export const RAG_REEMBED: CommandSpec = {
  name: "rag:reembed",
  summary: "recompute all vectors of a store, with another model if --embed names one ('none' removes them)",
  arguments: [{ name: "NAME", kind: "text", optional: true }],
  flags: [EMBED],
  ...shared,
};

export const RAG_OVERRIDE: CommandSpec = {
  name: "rag:override",
  summary: "choose where questions are embedded while a certain model answers: an embedding model, 'off' or 'default'",
  arguments: [
    { name: "NAME", kind: "text" },
    { name: "MODEL", kind: "text", complete: "model" },
    { name: "EMBEDDING", kind: "text" },
  ],
  ...shared,
};

export const RAG_MIGRATE: CommandSpec = {
  name: "rag:migrate",
  summary: "import the stores that an older YAML or TOML configuration names under 'rag'",
  arguments: [{ name: "FILE", kind: "path", complete: "file" }],
  ...shared,
};
