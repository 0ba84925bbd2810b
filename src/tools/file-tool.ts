/** Shared by the file tools: arguments from JSON, and errors that the model can act on. */
import { groupDigits } from "../base/group-digits.js";
import type { Tool, ToolContext, ToolOutcome } from "../engine/ports.js";
import { ownText, type ResultContent, text } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import type { ToolDefinition } from "./catalog.js";
import { PatternError } from "./search/rust-regex.js";
import { WorkspaceError } from "./workspace.js";

/** Wraps `run`: mistakes in the request become a result, our own faults stay exceptions. */
export function fileTool(
  definition: ToolDefinition,
  run: (args: Arguments, context: ToolContext) => Promise<ToolOutcome>,
): Tool {
  return {
    ...definition,
    async run(args, context) {
      try {
        context.signal.throwIfAborted();
        return await run(new Arguments(args), context);
      } catch (error) {
        if (context.signal.aborted) return { status: "cancelled", content: [ownText("Cancelled.")] };
        if (isForTheModel(error)) return failedWith(error);
        throw error;
      }
    },
  };
}

/** A result: what was found comes from outside, the notes are Oxbow's own. */
export function done(
  found: string | readonly ResultContent[],
  details: JsonObject,
  notes: readonly string[] = [],
): ToolOutcome {
  const content = typeof found === "string" ? [text(found)] : found;
  return { status: "ok", content: notes.length === 0 ? content : [...content, ownText(notes.join("\n"))], details };
}

/** A result without anything from outside. */
export function noted(note: string, details: JsonObject): ToolOutcome {
  return { status: "ok", content: [ownText(note)], details };
}

/** An error of Oxbow's own; `quoted` is what it quotes from files. */
export function failed(message: string, quoted?: string): ToolOutcome {
  return { status: "error", content: [ownText(message), ...(quoted === undefined ? [] : [text(quoted)])] };
}

/** The same for an error that was thrown. */
export function failedWith(error: Error & { readonly quoted?: string | undefined }): ToolOutcome {
  return failed(error.message, error.quoted);
}

function isForTheModel(error: unknown): error is Error {
  return error instanceof WorkspaceError || error instanceof PatternError || error instanceof ArgumentError;
}

export class ArgumentError extends Error {}

/** The arguments of a call. The schema check came before, but a library user may skip it. */
export class Arguments {
  readonly #values: JsonObject;

  constructor(values: JsonObject) {
    this.#values = values;
  }

  text(name: string): string {
    const value = this.#values[name];
    if (typeof value !== "string") throw new ArgumentError(`"${name}" must be a string.`);
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.#isAbsent(name) ? undefined : this.text(name);
  }

  /** A whole number of at least `least`, capped at `most`. */
  integer(name: string, { least, most, otherwise }: { least: number; most: number; otherwise: number }): number {
    if (this.#isAbsent(name)) return otherwise;
    const value = this.#values[name];
    if (typeof value !== "number" || !Number.isInteger(value) || value < least) {
      throw new ArgumentError(`"${name}" must be a whole number of at least ${least}.`);
    }
    return Math.min(value, most);
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  choice<T extends string>(name: string, options: readonly T[], otherwise: T): T {
    if (this.#isAbsent(name)) return otherwise;
    const found = options.find((option) => option === this.#values[name]);
    if (found === undefined) throw new ArgumentError(`"${name}" must be one of ${options.join(", ")}.`);
    return found;
  }

  #isAbsent(name: string): boolean {
    return this.#values[name] === undefined || this.#values[name] === null;
  }
}

/** `1,234 B`, `12 KB`, `3.4 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 10_000) return `${groupDigits(bytes)} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1000)} KB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

export function formatCount(count: number): string {
  return groupDigits(count);
}

/** `1 line`, `2,000 lines`. */
export function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
