/** Describes what several tables of habits have in common. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

/** The words of a text, for long lists of names. */
export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** The same value for every word of a text. */
export function same(names: string, value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(words(names).map((name) => [name, value]));
}

export const PATH = words(`
  file_path filepath file filename file_name absolute_path abs_path relative_path target_file target_path pathname
  uri full_path resource notebook_path
`);

export const FOLDER = words(`
  dir_path directory directory_path dir folder folder_path root base_path search_path search_directory
  target_directory relative_workspace_path absolute_path file_path cwd
`);

/** Lists what models say about a call: it changes nothing. */
export const WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  words(`
    description explanation reason reasoning justification thought thoughts instruction instructions intent
    purpose title goal comment summary taskprogress toolsummary toolaction waitforpreviously waitforprevioustools
    waitforprevious securityrisk userfacing requestid toolcallid callid aiproposedcontent modifiedbyuser
    initialcontent caption displaydescription risklevel risklevelreason toolcalldescription
  `).map((name) => [name, ""]),
);

/** The arguments without some of them. */
export function without(args: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)));
}

/** A path as a tool reads it: without quotes around it, and of an address of a file. */
export function plainPath(args: JsonObject): JsonObject {
  if (typeof args.path !== "string") return args;
  const bare = args.path.replace(/^\s*(["'`])(.+)\1\s*$/, "$2");
  const [, local] = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(bare) ?? [];
  return { ...args, path: local === undefined ? bare : decoded(local) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Tells what stands where a path belongs: the file and its other arguments, as Roo sends them. */
export function entriesIn(value: JsonValue | undefined): readonly JsonObject[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every(isJsonObject) ? list : undefined;
}

/** A number, also as text. */
export function numberIn(value: JsonValue | undefined): number | undefined {
  const number = typeof value === "string" && /^\s*[+-]?\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof number === "number" ? number : undefined;
}

export function isTrue(value: JsonValue | undefined): boolean {
  return value === true || value === 1 || (typeof value === "string" && /^(true|yes|1)$/i.test(value.trim()));
}

export function isFalse(value: JsonValue | undefined): boolean {
  return value === false || value === 0 || (typeof value === "string" && /^(false|no|0)$/i.test(value.trim()));
}

/** A list, also as JSON text. */
export function listIn(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string" || !value.trimStart().startsWith("[")) return undefined;
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? (list as readonly JsonValue[]) : undefined;
  } catch {
    return undefined;
  }
}
