/**
 * A folder of providers: `NAME.conf` describes a variant, an executable file is a provider itself.
 *
 * 1. Reading the folder starts nothing. A program that other users could change is not used.
 * 2. Files that cannot be used are listed with the reason.
 */
import { accessSync, closeSync, constants, openSync, readdirSync, readSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readRegularTextSync } from "../system/regular-file.js";
import { FieldError, type ProviderFields } from "./own-provider.js";
import { parseProviderConf } from "./provider-conf.js";

export type FolderEntry =
  | { readonly kind: "variant"; readonly name: string; readonly file: string }
  | { readonly kind: "executable"; readonly name: string; readonly file: string }
  | { readonly kind: "broken"; readonly name: string; readonly file: string; readonly problem: string };

const SCRIPT = /\.(sh|bash|zsh|fish|py|mjs|cjs|js|ts|rb|pl|php|lua|exe|cmd|bat)$/i;

/** Sorted by name; empty if the folder does not exist. */
export function readProviderFolder(folder: string): readonly FolderEntry[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch {
    return [];
  }
  const entries = names.filter((name) => !/^\.|~$/.test(name)).flatMap((name) => entryOf(join(folder, name), name));
  return entries.map((entry, index) => {
    const first = entries.findIndex((other) => other.name === entry.name);
    if (first === index) return entry;
    const problem = `${entries[first]?.file} is named ${entry.name} too: rename one of them`;
    return { kind: "broken", name: `${entry.name} (${entry.file})`, file: entry.file, problem };
  });
}

/** Throws FieldError with the file and the line. */
export function readVariant(file: string, programs: readonly string[] = []): ProviderFields {
  let text: string;
  try {
    text = readRegularTextSync(file);
  } catch (error) {
    throw new FieldError(`Oxbow cannot read ${file}: ${(error as Error).message}`);
  }
  return parseProviderConf(text, file, programs);
}

/** One file, if it is a provider. */
export function providerFile(path: string): readonly FolderEntry[] {
  return entryOf(path, basename(path));
}

function entryOf(file: string, fileName: string): readonly FolderEntry[] {
  const variant = fileName.endsWith(".conf");
  const name = variant ? fileName.slice(0, -".conf".length) : fileName.replace(SCRIPT, "");
  const broken = (problem: string): readonly FolderEntry[] => [{ kind: "broken", name, file, problem }];
  let status: ReturnType<typeof statSync>;
  try {
    status = statSync(file);
  } catch {
    return variant ? broken(`${file} points to a missing file`) : [];
  }
  if (!status.isFile()) return [];
  if (!/^[\w][\w.-]*$/.test(name)) {
    return broken(`${file}: a provider's name has letters, digits, '.', '-' and '_' only`);
  }
  if (variant) return [{ kind: "variant", name, file }];
  if (!isExecutable(file)) return isScript(file) ? broken(`${file} is not executable: chmod +x '${file}'`) : [];
  const me = process.getuid?.();
  if (me !== undefined && (status.mode & 0o022) !== 0) {
    return broken(`others can write to ${file}: chmod go-w '${file}'`);
  }
  if (me !== undefined && status.uid !== me && status.uid !== 0) return broken(`${file} belongs to another user`);
  return [{ kind: "executable", name, file }];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Tells whether the file looks like a script that lacks the executable bit. */
function isScript(file: string): boolean {
  const begin = Buffer.alloc(2);
  try {
    const handle = openSync(file, "r");
    readSync(handle, begin, 0, 2, 0);
    closeSync(handle);
  } catch {
    return false;
  }
  return begin.toString("latin1") === "#!";
}
