/**
 * Variants of the prompt: `[prompt_variants.NAME]` adds a text to the system prompt of a part of the sessions, so that they can be compared.
 *
 * 1. A session keeps its variant: its id decides. Another variant that comes or goes moves as few sessions as possible.
 * 2. A variant with an empty text is one without a change, to compare with.
 */
import { createHash } from "node:crypto";
import { UsageError } from "../../base/usage-error.js";
import type { Setting, SettingReader } from "../../feature/setting.js";
import { readGivenFileSync } from "../../system/given-file.js";

export interface PromptVariant {
  readonly name: string;
  /** Added to the system prompt; empty for none. */
  readonly text: string;
  readonly weight: number;
}

/** The variants, and the one that all sessions get: its name, or `off`. */
export interface PromptVariants {
  readonly all: readonly PromptVariant[];
  readonly chosen?: string | undefined;
}

const OFF = "off";
const NAME = /^[a-z0-9][\w-]*$/i;

export function readVariants(from: SettingReader): Setting<readonly PromptVariant[]> {
  const { value, origin } = from.tables("prompt_variants");
  return { value: Object.entries(value ?? {}).map(([name, table]) => variantOf(name, table, origin)), origin };
}

export function readVariant(from: SettingReader, key: string): Setting<string | undefined> {
  const names = [...readVariants(from).value.map(({ name }) => name), OFF];
  const read = (text: string) => {
    if (names.includes(text)) return text;
    throw new UsageError(`there is no prompt variant "${text}"; there are ${names.join(", ")}.`);
  };
  return from.pick<string | undefined>({ key, flag: "prompt-variant", fallback: undefined, read });
}

function variantOf(name: string, table: unknown, origin: string): PromptVariant {
  const wrong = (what: string) => new UsageError(`${origin}: [prompt_variants.${name}] ${what}`);
  if (!NAME.test(name) || name === OFF) throw wrong("cannot have this name: use letters, digits, - and _.");
  if (typeof table !== "object" || table === null) throw wrong('needs text = "…".');
  const { text, weight = 1, ...others } = table as Readonly<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(`has no "${unknown}": there are text and weight.`);
  if (typeof text !== "string") throw wrong('needs text = "…", or "@FILE"; an empty text changes nothing.');
  if (typeof weight !== "number" || !(weight > 0)) throw wrong("weight: expected a number above 0.");
  try {
    return { name, text: textOrFile(text).trim(), weight };
  } catch (error) {
    throw error instanceof UsageError ? wrong(error.message) : error;
  }
}

/** The variant of a session; undefined without any. */
export function variantFor(session: string, { all, chosen }: PromptVariants): PromptVariant | undefined {
  if (chosen !== undefined) return all.find(({ name }) => name === chosen);
  const scored = all.map((variant) => ({ variant, score: -variant.weight / Math.log(shareOf(session, variant.name)) }));
  return scored.sort((a, b) => b.score - a.score)[0]?.variant;
}

/** A number between 0 and 1, the same for the same words. */
function shareOf(session: string, name: string): number {
  const hash = createHash("sha256").update(`${session}\0${name}`).digest();
  return (hash.readUInt32BE(0) + 0.5) / 2 ** 32;
}

/** Reads a text; `@FILE` is the text of a file. */
export function textOrFile(text: string): string {
  if (!text.startsWith("@")) return text;
  try {
    return readGivenFileSync(text.slice(1)).toString("utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${text.slice(1)}: ${(error as Error).message}`);
  }
}
