/**
 * Calls written as Python: `[read(path="a.txt"), ls()]`. Llama 3.2 and 4, Gemma and models trained on function-calling sets do so.
 * Only literals are read; an expression is not a call.
 */
import { MOST_ARGUMENT_LEVELS } from "../../base/json-nesting.js";
import type { ModelToolCall, ToolSpec } from "../../engine/ports.js";
import type { JsonValue } from "../../protocol/json.js";
import { toolCall } from "./tool-arguments.js";

class NotACall extends Error {}

/** The calls if they make up the whole text, with or without brackets around it; otherwise undefined. */
export function readPythonCalls(text: string, tools: readonly ToolSpec[]): readonly ModelToolCall[] | undefined {
  const reader = new Reader(text.trim());
  try {
    const listed = reader.take("[");
    const calls: ModelToolCall[] = [];
    do calls.push(reader.call(tools));
    while (reader.take(","));
    if (listed) reader.expect("]");
    reader.end();
    return calls;
  } catch (error) {
    if (error instanceof NotACall) return undefined;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  call(tools: readonly ToolSpec[]): ModelToolCall {
    const name = this.#match(/[A-Za-z_][\w.]*/y) ?? fail();
    if (!tools.some((tool) => tool.name === name)) fail();
    this.expect("(");
    const args: Record<string, JsonValue> = {};
    while (!this.take(")")) {
      const key = this.#match(/[A-Za-z_]\w*/y) ?? fail();
      this.expect("=");
      args[key] = this.#value();
      if (!this.take(",")) {
        this.expect(")");
        break;
      }
    }
    return toolCall(name, JSON.stringify(args));
  }

  take(sign: string): boolean {
    this.#skip();
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  expect(sign: string): void {
    if (!this.take(sign)) fail();
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#text.length) fail();
  }

  #value(levels = MOST_ARGUMENT_LEVELS): JsonValue {
    if (levels === 0) return fail();
    if (this.take("[")) return this.#list(levels - 1);
    if (this.take("{")) return this.#dictionary(levels - 1);
    const quoted = this.#match(/"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/y);
    if (quoted !== undefined) return unquote(quoted);
    const number = this.#match(/-?\d+(\.\d+)?([eE][+-]?\d+)?/y);
    if (number !== undefined) return Number(number);
    const word = this.#match(/[A-Za-z]+/y);
    if (word !== undefined && Object.hasOwn(WORDS, word)) return WORDS[word] as JsonValue;
    return fail();
  }

  #list(levels: number): JsonValue {
    const items: JsonValue[] = [];
    while (!this.take("]")) {
      items.push(this.#value(levels));
      if (!this.take(",")) {
        this.expect("]");
        break;
      }
    }
    return items;
  }

  #dictionary(levels: number): JsonValue {
    const entries: [string, JsonValue][] = [];
    while (!this.take("}")) {
      const key = this.#value(levels);
      if (typeof key !== "string") fail();
      this.expect(":");
      entries.push([key as string, this.#value(levels)]);
      if (!this.take(",")) {
        this.expect("}");
        break;
      }
    }
    return Object.fromEntries(entries);
  }

  #match(form: RegExp): string | undefined {
    this.#skip();
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }
}

const WORDS: Readonly<Record<string, JsonValue>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

function unquote(text: string): string {
  return text.slice(1, -1).replace(/\\([\s\S])/g, (whole, sign: string) => {
    if (Object.hasOwn(ESCAPES, sign)) return ESCAPES[sign] as string;
    return /["'\\]/.test(sign) ? sign : whole;
  });
}

function fail(): never {
  throw new NotACall();
}
