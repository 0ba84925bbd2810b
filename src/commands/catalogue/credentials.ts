/** Stored keys and sign-ins: `oxbow auth …`, and by account `oxbow creds …`. */
import type { Argument, CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const PEOPLE: readonly CommandUser[] = ["people"];
const ANYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
/** They ask for a secret: only a command that has the terminal to itself can hide what the user types. */
const SHELL_ONLY: readonly CommandPlace[] = ["without a session"];

export const CREDS_NAMESPACE = { creds: "store keys by account: add, list, delete" };
export const AUTH_NAMESPACE = { auth: "stored keys and sign-ins; 'oxbow auth set' stores one" };

const ENTRY: readonly Argument[] = [
  {
    name: "PROVIDER",
    kind: "text",
    complete: "provider",
    missing: "Which provider? For example: oxbow auth set anthropic",
  },
  // The command itself refuses more words: they may hold a key, and no message may repeat it.
  { name: "ACCOUNT", kind: "text", optional: true, rest: "list" },
];
const ACCOUNT: Flag = {
  name: "account",
  value: "NAME",
  help: "the account, if you have several for this provider (default: default)",
};

export const AUTH_SET: CommandSpec = {
  name: "auth:set",
  aliases: ["creds:add"],
  summary: "store a key, or sign in",
  arguments: ENTRY,
  flags: [
    ACCOUNT,
    { name: "stdin", help: "read the key from standard input" },
    { name: "key", value: "KEY", help: "the key itself; other programs on this machine can see it" },
    {
      name: "base-url",
      value: "URL",
      help: "the address of the key (default: the provider's, or the one in its variable)",
    },
    { name: "no-browser", help: "to sign in: open no browser, show the address and wait for the pasted code" },
    { name: "yes", short: "y", help: "to sign in: you have read the provider's terms, do not ask" },
  ],
  users: PEOPLE,
  reaches: "user",
  places: SHELL_ONLY,
};

export const AUTH_LIST: CommandSpec = {
  name: "auth:list",
  aliases: ["creds:list"],
  summary: "list the keys and where they come from, without their values",
  users: ["people", "agents in the shell"],
  reaches: "user",
  places: ANYWHERE,
};

export const AUTH_REMOVE: CommandSpec = {
  name: "auth:remove",
  aliases: ["creds:delete"],
  summary: "delete a stored key",
  arguments: ENTRY,
  flags: [ACCOUNT],
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const AUTH_UNLOCK: CommandSpec = {
  name: "auth:unlock",
  summary: "enter the passphrase once, until the helper process ends",
  flags: [{ name: "stdin", help: "read the passphrase from standard input" }],
  users: PEOPLE,
  reaches: "user",
  places: SHELL_ONLY,
};

export const AUTH_LOCK: CommandSpec = {
  name: "auth:lock",
  summary: "stop the helper process, which has the decrypted keys",
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};
