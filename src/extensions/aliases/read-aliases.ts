/**
 * Short names that people give to slash commands and prompts, in `aliases.toml`:
 *
 *     [aliases]
 *     gs = "/git status"
 *     review = { run = "Review $1 and look for $2.", description = "reviews a file" }
 *
 * 1. A bad entry is left out with a message; the others work.
 * 2. If two have one name, the more local one wins.
 */
import type { ExtensionFile, ExtensionScope } from "../../base/extension-files.js";

export interface Alias {
  readonly name: string;
  /** A slash command, or a prompt; `$1`, `$2` … and `$@` stand for the arguments. */
  readonly target: string;
  readonly description?: string;
  readonly scope: ExtensionScope;
  readonly path: string;
}

export interface ReadAliases {
  readonly aliases: readonly Alias[];
  /** One line each. */
  readonly problems: readonly string[];
}

const NAME = /^\p{L}[\p{L}\p{N}_.-]*(?::\p{L}[\p{L}\p{N}_.-]*)?$/u;
const KNOWN_KEYS = ["aliases", "schema_version"];
const VERSION = 1;

export async function readAliases(files: readonly ExtensionFile[]): Promise<ReadAliases> {
  const found = new Map<string, Alias>();
  const problems: string[] = [];
  for (const file of files) {
    const read = await readFile(file).catch((error: Error) => ({ aliases: [], problems: [error.message] }));
    for (const alias of read.aliases) found.set(alias.name, alias);
    problems.push(...read.problems.map((problem) => `${file.path}: ${problem}`));
  }
  return { aliases: [...found.values()], problems };
}

async function readFile({ path, scope, read }: ExtensionFile): Promise<ReadAliases> {
  const { parse } = await import("smol-toml");
  const document: Readonly<Record<string, unknown>> = parse(await read());
  const { schema_version: version = VERSION, aliases: table = {} } = document;
  if (version !== VERSION)
    throw new Error(`schema_version is ${JSON.stringify(version)}, and this Oxbow reads ${VERSION}.`);
  if (!isTable(table)) throw new Error("write the aliases under [aliases].");
  const problems = Object.keys(document)
    .filter((key) => !KNOWN_KEYS.includes(key))
    .map((key) => `unknown key "${key}" is ignored. Write aliases under [aliases].`);
  const aliases = Object.entries(table).flatMap(([name, value]): Alias[] => {
    const read = readEntry(name, value);
    if (typeof read !== "string") return [{ name, scope, path, ...read }];
    problems.push(`alias "${name}" is left out: ${read}`);
    return [];
  });
  return { aliases, problems };
}

function readEntry(name: string, value: unknown): Pick<Alias, "target" | "description"> | string {
  if (!NAME.test(name)) return "a name has letters, digits, '-', '_' and '.', and begins with a letter.";
  const { run, description, ...rest } = isTable(value) ? value : { run: value };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return `unknown key "${unknown}"; there are run and description.`;
  if (typeof run !== "string" || run.trim() === "") return "expected a text: a slash command or a prompt.";
  if (description !== undefined && typeof description !== "string") return "description must be a text.";
  if (/^\/(?:\s|$|\S*\$)/.test(run.trim()))
    return "write the whole name of the command after the slash: an argument cannot be part of it.";
  if (run.trim().startsWith("!")) return "it cannot stand for a shell command.";
  return { target: run.trim(), ...(description !== undefined && { description }) };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
