/** Readers of values that people write; each throws a UsageError that says what it expects. */
import { parseDuration } from "./duration.js";
import { UsageError } from "./usage-error.js";

/** Describes what a form asks for: one of these values, a number or a list; absent: a text. */
export type Takes = "switch" | "number" | "list" | readonly string[];

export interface Reader<T> {
  (text: string): T;
  readonly takes?: Takes;
}

export function oneOf<T extends string>(...known: readonly T[]): Reader<T> {
  const read = (text: string) => {
    const found = known.find((each) => each === text);
    if (found === undefined)
      throw new UsageError(`expected ${known.join(", ").replace(/, ([^,]*)$/, " or $1")}, got "${text}".`);
    return found;
  };
  return Object.assign(read, { takes: known });
}

export function onOrOff(text: string): boolean {
  if (text === "on" || text === "true") return true;
  if (text === "off" || text === "false") return false;
  throw new UsageError(`expected on or off, got "${text}".`);
}
onOrOff.takes = "switch" as const;

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`expected a whole number from 1, got "${text}".`);
  return value;
}
wholeNumber.takes = "number" as const;

export function wholeNumberOrZero(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new UsageError(`expected a whole number from 0, got "${text}".`);
  return value;
}
wholeNumberOrZero.takes = "number" as const;

/** Words with commas between them. */
export function names(text: string): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
names.takes = "list" as const;

export function duration(text: string): number {
  const value = parseDuration(text);
  if (value === undefined || value <= 0) {
    throw new UsageError(`expected a duration such as 90s, 5m or 1m30s, got "${text}".`);
  }
  return value;
}

/** A duration; `0` and `off`: none. */
export function limit(text: string): number | undefined {
  if (text === "off") return undefined;
  const value = parseDuration(text);
  if (value === undefined) throw new UsageError(`expected a duration such as 90s, 5m or 1m30s, or off, got "${text}".`);
  return value === 0 ? undefined : value;
}

/** Words with blanks or commas between them. */
export function words(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
words.takes = "list" as const;

/** A duration, or `off`. */
export function durationOrOff(text: string): number | undefined {
  return text === "off" ? undefined : duration(text);
}

/** A text; an empty one is none. */
export function textOrNone(text: string): string | undefined {
  return text.trim() || undefined;
}
