/** Adds the keys of a secrets file to the variables of a command. Its reader is loaded only where such a file is. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Variables } from "../base/variables.js";
import type { SecretsFile } from "../system/secrets-file.js";
import { printMessage } from "./print-message.js";

const FILE = join(".oxbow-secrets", "env");
/** Commands that talk with a model: they say where keys come from. */
const TALKERS: ReadonlySet<string> = new Set(["", "run", "resume", "attach", "serve", "acp", "mcp-server", "debug"]);

/** `command` is empty for a bare prompt. */
export async function withSecretsFile(variables: Variables, command: string): Promise<Variables> {
  const file = await secretsFileHere();
  if (file === undefined) return variables;
  if (TALKERS.has(command)) for (const message of messagesOf(file)) printMessage(message);
  const { withSecrets } = await import("../system/secrets-file.js");
  return withSecrets(variables, file);
}

/** The secrets file of the working folder; undefined without one. */
export async function secretsFileHere(): Promise<SecretsFile | undefined> {
  const folder = workingFolder();
  if (folder === undefined || !mayHaveFile(folder)) return undefined;
  return (await import("../system/secrets-file.js")).findSecretsFile(folder);
}

function messagesOf({ path, keys, refused, warnings }: SecretsFile): readonly string[] {
  if (refused !== undefined) return [`${path} is not read: ${refused}.`];
  const names = Object.keys(keys);
  // A script may read stderr: what is as it should be goes to people alone.
  const used = names.length > 0 && process.stderr.isTTY ? [`Keys from ${path}: ${names.join(", ")}`] : [];
  return [...used, ...warnings.map((warning) => `${path}: ${warning}.`)];
}

function mayHaveFile(folder: string): boolean {
  for (let current = folder; ; current = dirname(current)) {
    if (lstatSync(join(current, FILE), { throwIfNoEntry: false }) !== undefined) return true;
    if (current === dirname(current)) return false;
  }
}

/** Undefined if it was deleted: the command reports that. */
function workingFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
