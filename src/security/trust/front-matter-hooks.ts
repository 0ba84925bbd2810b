/**
 * The hooks in the front matter of a skill, an agent type or a slash command. What this returns is what is approved and what runs.
 *
 * The reader of front matter has only text: a field that is a number or a flag in other formats becomes one here.
 */
import { isYamlMap } from "../../base/front-matter.js";
import { readLooseFrontMatter } from "../../base/loose-front-matter.js";
import type { YamlValue } from "../../base/yaml.js";

const NUMBERS = ["timeout", "timeout_ms"];
const FLAGS = ["once", "async", "asyncRewake", "continueOnBlock", "sandbox"];

/** Tells whether the text may have some: reading every skill at every start would take too long. */
export function mayHaveHooks(text: string): boolean {
  return /^["']?hooks["']?[ \t]*:/m.test(text);
}

/** By event; undefined if there are none. */
export function frontMatterHooks(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!mayHaveHooks(text)) return undefined;
  const matter = readLooseFrontMatter(text);
  const hooks = "fault" in matter ? undefined : matter.fields.get("hooks");
  return isYamlMap(hooks) && hooks.size > 0 ? (plain(hooks) as Readonly<Record<string, unknown>>) : undefined;
}

function plain(value: YamlValue, field = ""): unknown {
  if (isYamlMap(value)) return Object.fromEntries([...value].map(([name, each]) => [name, plain(each, name)]));
  if (Array.isArray(value)) return value.map((each: YamlValue) => plain(each));
  if (typeof value !== "string") return value;
  if (NUMBERS.includes(field) && value.trim() !== "" && Number.isFinite(Number(value))) return Number(value);
  if (FLAGS.includes(field) && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return value;
}
