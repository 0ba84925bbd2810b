/**
 * A rule of `.cursor/rules/*.mdc`: a text, and when it applies.
 *
 * Its front matter is not quite YAML (`globs: **\/*.ts, *.js`), so it is parsed line by line. A rule with invalid front matter is
 * skipped: a rule for some files must not apply to all.
 */
export interface RuleFile {
  /** `manual`: only if the user names it. `skipped`: its front matter is invalid. */
  readonly mode: "always" | "globs" | "on request" | "manual" | "skipped";
  readonly description: string;
  readonly globs: readonly string[];
  readonly body: string;
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

export function readRuleFile(text: string): RuleFile {
  const match = FRONT_MATTER.exec(text);
  if (match === null || match.index !== 0) return { mode: "manual", description: "", globs: [], body: text };
  const body = text.slice(match[0].length);
  const fields = readFields(match[1] ?? "");
  if (fields === undefined) return { mode: "skipped", description: "", globs: [], body };
  const description = unquoted(fields.get("description")?.join(" ") ?? "");
  const globs = (fields.get("globs") ?? []).flatMap((value) => splitGlobs(unquoted(value)));
  const rest = { description, globs, body };
  if (fields.get("alwaysApply")?.[0] === "true") return { mode: "always", ...rest };
  if (globs.length > 0) return { mode: "globs", ...rest };
  return { mode: description === "" ? "manual" : "on request", ...rest };
}

/** The values of each field; a list has several. */
function readFields(text: string): ReadonlyMap<string, readonly string[]> | undefined {
  const fields = new Map<string, string[]>();
  let values: string[] | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const field = /^([A-Za-z]\w*)[ \t]*:[ \t]*(.*)$/.exec(line);
    const item = /^[ \t]*-[ \t]+(.+)$/.exec(line)?.[1];
    if (field !== null) {
      const [, name = "", raw = ""] = field;
      const value = raw.trim();
      if (value.startsWith("[") !== value.endsWith("]")) return undefined;
      values = value === "" ? [] : [value.replace(/^\[(.*)\]$/, "$1")];
      fields.set(name, values);
    } else if (item !== undefined && values !== undefined) values.push(item.trim());
    else return undefined;
  }
  return fields;
}

function unquoted(value: string): string {
  const text = value.trim();
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

/** Splits at commas, except within braces. */
function splitGlobs(value: string): readonly string[] {
  return value
    .split(/,(?![^{]*\})/)
    .map(unquoted)
    .filter((glob) => glob !== "");
}
