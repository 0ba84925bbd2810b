/**
 * Stored keys and sign-ins: `oxbow auth …`, by account `oxbow creds …`, and in a conversation `/auth …`, which never asks for a secret: only
 * a command that has the terminal to itself can hide what the user types.
 */
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import {
  type Argument,
  asValue,
  type Command,
  type CommandArguments,
  type CommandOf,
  type CommandResult,
  type CommandSpec,
  EVERYWHERE,
  IN_SHELL,
  READERS,
  type Subject,
  withPort,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import { type CatalogueEntry, readCatalogue } from "./catalogue.js";
import { type CredentialFile, isSame } from "./credential-file.js";
import { DEFAULT_ACCOUNT } from "./entry.js";
import { runningHelper } from "./helper/running-helper.js";
import { credentialFile } from "./places.js";

export interface CredentialsPort {
  readonly variables: Variables;
  /** The providers that can be reached, and the variables that may hold their keys. */
  providers(): Promise<readonly { readonly name: string; readonly keyName?: string | undefined }[]>;
  /** The credential file, to change it. */
  openFile(): Promise<CredentialFile>;
}

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

export const SET: CommandSpec = {
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
  places: IN_SHELL,
};

const LIST: CommandOf<CredentialsPort> = {
  name: "auth:list",
  aliases: ["creds:list"],
  summary: "list the keys and where they come from, without their values",
  users: READERS,
  places: EVERYWHERE,
  run: listKeys,
};

const REMOVE: CommandOf<CredentialsPort> = {
  name: "auth:remove",
  aliases: ["creds:delete"],
  summary: "delete a stored key",
  arguments: ENTRY,
  flags: [ACCOUNT],
  places: EVERYWHERE,
  run: removeKey,
};

export const UNLOCK: CommandSpec = {
  name: "auth:unlock",
  summary: "enter the passphrase once, until the helper process ends",
  flags: [{ name: "stdin", help: "read the passphrase from standard input" }],
  places: IN_SHELL,
};

const LOCK: CommandOf<CredentialsPort> = {
  name: "auth:lock",
  summary: "stop the helper process, which has the decrypted keys",
  places: EVERYWHERE,
  run: async (_args, { variables }) => {
    const helper = await runningHelper(variables);
    await helper?.stop();
    const text = helper === undefined ? "No helper is running." : "The helper has stopped and forgotten the keys.";
    return { text, value: { stopped: helper !== undefined } };
  },
};

export const subject: Subject = {
  name: "auth",
  summary: "stored keys and sign-ins; 'oxbow auth set' stores one",
  heading: "Models, keys and costs",
  specs: [SET, LIST, REMOVE, UNLOCK, LOCK],
  shell: {
    about: "Stores the keys of providers, and signs in to them.",
    more: `Oxbow asks for the key and does not show it; scripts use --stdin. Oxbow stores a key for one address. A helper process
adds it to requests there: neither the engine nor the model's tools see it.
A key in the environment (ANTHROPIC_API_KEY …) overrides a stored one.
'oxbow auth set chatgpt' (or claude, copilot) signs in: it opens the browser, or asks for a pasted code.`,
  },
};

/** The same commands, by provider and account. */
export const creds: Subject = {
  name: "creds",
  summary: "store keys by account: add, list, delete",
  heading: subject.heading,
  specs: [SET, LIST, REMOVE],
  shell: {
    about: "Stores the keys of providers, by account.",
    more: "Oxbow asks for the key and does not show it; scripts use --stdin. See also 'oxbow auth'.",
  },
};

export function credentialCommands(port: CredentialsPort): readonly Command[] {
  return withPort([LIST, REMOVE, LOCK], () => port);
}

interface Row {
  readonly provider: string;
  readonly account: string;
  readonly kind: "key" | "sign-in";
  readonly from: string;
  readonly for: string;
  readonly added: string;
}

/** Lists names, never keys. Needs no key itself. */
async function listKeys(_args: CommandArguments, { variables, providers }: CredentialsPort): Promise<CommandResult> {
  const inEnvironment = (await providers()).flatMap(({ name, keyName }): Row[] =>
    keyName !== undefined && variables[keyName]?.trim()
      ? [{ provider: name, account: "", kind: "key", from: `environment (${keyName})`, for: "", added: "" }]
      : [],
  );
  const rows = [...inEnvironment, ...(readCatalogue(credentialFile(variables))?.entries ?? []).map(stored)];
  const text = rows.length === 0 ? "No keys. Store one: oxbow auth set anthropic" : table(rows);
  return { text, value: asValue(rows) };
}

function stored({ provider, account, kind, baseUrl, addedAt, identity }: CatalogueEntry): Row {
  return {
    provider,
    account: identity === undefined ? account : `${account} (${identity})`,
    kind: kind === "oauth" ? "sign-in" : "key",
    from: "stored",
    for: baseUrl,
    added: new Date(addedAt).toISOString().slice(0, 10),
  };
}

function table(rows: readonly Row[]): string {
  const columns = ["provider", "account", "kind", "from", "for", "added"] as const;
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? "").length)));
  const padded = (line: readonly string[]) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0));
  return lines.map((line) => padded(line).join("  ").trimEnd()).join("\n");
}

async function removeKey(args: CommandArguments, port: CredentialsPort): Promise<CommandResult> {
  const which = namedEntry(args);
  const entries = readCatalogue(credentialFile(port.variables))?.entries ?? [];
  const file = await port.openFile();
  if (!entries.some((entry) => isSame(entry, which)) || !(await file.remove(which))) {
    const others = entries.filter((entry) => entry.provider === which.provider).map((entry) => entry.account);
    const advice = others.length === 0 ? "'oxbow auth list' lists the stored keys." : `Stored: ${others.join(", ")}.`;
    throw new UsageError(`No key is stored for ${which.provider} (${which.account}). ${advice}`);
  }
  return {
    text: `Removed the key for ${which.provider}. It is still valid: if others know it, revoke it at the provider.`,
    value: { ...which, removed: true },
  };
}

/** Reads the entry that the arguments of a command name. */
export function namedEntry(args: CommandArguments): { readonly provider: string; readonly account: string } {
  const provider = args.text("PROVIDER") ?? "";
  const [account, ...more] = args.list("ACCOUNT");
  // `creds add PROVIDER ACCOUNT KEY` is a likely mistake.
  if (more.length > 0)
    throw new UsageError("Do not put the key on the command line: Oxbow asks for it, or use --stdin.");
  const named = args.flag("account");
  if (account !== undefined && named !== undefined && account !== named)
    throw new UsageError("Give one account, not two.");
  const chosen = account ?? named ?? DEFAULT_ACCOUNT;
  if (!/^[\w.@+-]{1,100}$/.test(chosen)) {
    throw new UsageError(
      "The name of an account has only letters, digits and . _ @ + -. Do not put the key on the command line.",
    );
  }
  return { provider, account: chosen };
}
