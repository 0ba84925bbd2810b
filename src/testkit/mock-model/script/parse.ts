/**
 * Reads a script file (docs/testing.md describes the format).
 *
 * 1. `reply`, `model` and `loop` start at the left edge; the lines of a reply have the same indentation.
 * 2. Free text after `:` is literal, with trailing blanks and `#`. Text on deeper indented lines below a `:`
 *    loses the indentation that they share.
 * 3. `#` starts a comment at the beginning of a line and after anything that is not free text.
 */
import { parseConditions } from "./condition-syntax.js";
import { duration, LineCursor, list, positiveNumber, ScriptError } from "./line-cursor.js";
import { ACTION_READERS, SETTING_READERS, type StatementContext } from "./reply-syntax.js";
import { type Action, type ModelSpec, misplaced, type Reply, type Script } from "./script.js";

export { ScriptError };

export function parseScript(text: string): Script {
  return new ScriptParser(text).script();
}

interface Statement {
  readonly indent: number;
  readonly cursor: LineCursor;
}

class ScriptParser {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  }

  script(): Script {
    const replies: Reply[] = [];
    const models: ModelSpec[] = [];
    let atEnd: Script["atEnd"];
    for (let statement = this.#next(); statement !== undefined; statement = this.#next()) {
      const { cursor } = statement;
      if (statement.indent > 0) {
        cursor.fail(`expected reply, model or loop at the left edge, found an indented line: ${cursor.found}`);
      }
      const keyword = cursor.take(/[a-z-]+/);
      if (keyword === "reply") replies.push(this.#reply(cursor, replies));
      else if (keyword === "model") models.push(readModel(cursor));
      else if (keyword === "loop") {
        cursor.end();
        atEnd = "loop";
      } else {
        const hint = keyword !== undefined && isReplyKeyword(keyword) ? " (indent it to make it part of a reply)" : "";
        cursor.fail(
          `expected reply, model or loop, found ${keyword === undefined ? cursor.found : `"${keyword}"`}${hint}`,
        );
      }
    }
    if (replies.length === 0) throw new ScriptError(this.#lines.length, 'expected at least one "reply"');
    return { replies, ...(atEnd !== undefined && { atEnd }), ...(models.length > 0 && { models }) };
  }

  #reply(head: LineCursor, before: readonly Reply[]): Reply {
    let reply: Reply = { line: head.line, ...readReplyHead(head), actions: [] };
    const endless = before.find((earlier) => earlier.times === Number.POSITIVE_INFINITY && earlier.when === undefined);
    if (endless !== undefined && reply.when === undefined) {
      head.fail(`this reply is never used: the one on line ${endless.line} answers any number of calls`);
    }
    let indent: number | undefined;
    for (let next = this.#peek(); next !== undefined && next.indent > 0; next = this.#peek()) {
      this.#at = next.cursor.line;
      indent ??= next.indent;
      if (next.indent !== indent) {
        next.cursor.fail(`this line is indented by ${next.indent}, the first line of its reply by ${indent}`);
      }
      reply = this.#statement(reply, next);
    }
    return reply;
  }

  #statement(reply: Reply, { cursor, indent }: Statement): Reply {
    const context: StatementContext = { cursor, block: () => this.#block(indent) };
    const keyword = cursor.take(/[a-z-]+/) ?? "";
    if (Object.hasOwn(SETTING_READERS, keyword)) {
      const settings = SETTING_READERS[keyword]?.(context, reply);
      cursor.end();
      return { ...reply, ...settings };
    }
    if (!Object.hasOwn(ACTION_READERS, keyword)) {
      const known = list([...Object.keys(ACTION_READERS), ...Object.keys(SETTING_READERS)]);
      cursor.fail(`expected ${known}, found ${keyword === "" ? cursor.found : `"${keyword}"`}`);
    }
    const action = ACTION_READERS[keyword]?.(context) as Action;
    cursor.end();
    const problem = misplaced(action, reply.actions);
    if (problem !== undefined) cursor.fail(problem);
    return { ...reply, actions: [...reply.actions, action] };
  }

  /** The deeper indented lines below, as text. */
  #block(parentIndent: number): string | undefined {
    const rows: string[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const row = this.#lines[this.#at] as string;
      if (row.trim() !== "" && indentOf(row) <= parentIndent) break;
      rows.push(row);
    }
    while (rows.at(-1)?.trim() === "") rows.pop();
    if (rows.length === 0) return undefined;
    const shared = Math.min(...rows.filter((row) => row.trim() !== "").map(indentOf));
    return rows.map((row) => row.slice(shared)).join("\n");
  }

  #next(): Statement | undefined {
    const statement = this.#peek();
    if (statement !== undefined) this.#at = statement.cursor.line;
    return statement;
  }

  #peek(): Statement | undefined {
    for (let at = this.#at; at < this.#lines.length; at++) {
      const row = this.#lines[at] as string;
      if (/^\s*(#|$)/.test(row)) continue;
      const indent = indentOf(row);
      return { indent, cursor: new LineCursor(row.slice(indent), at + 1) };
    }
    return undefined;
  }
}

function readReplyHead(cursor: LineCursor): Pick<Reply, "times" | "when"> {
  const { times } = cursor.options<{ times?: number }>({ times: countOrAny });
  const when = cursor.take(/when\b/) === undefined ? undefined : parseConditions(cursor);
  cursor.end();
  return { ...(times !== undefined && { times }), ...(when !== undefined && { when }) };
}

function countOrAny(text: string): number {
  if (text === "any") return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d*$/.test(text)) throw new Error('"any" or a whole number from 1 up');
  return Number(text);
}

interface ModelOptions extends Pick<ModelSpec, "capabilities" | "installed" | "cut"> {
  readonly context?: number;
  readonly size?: number;
  readonly load?: number;
  readonly pull?: number;
}

function oneOf<Word extends string>(text: string, words: readonly Word[]): Word {
  const known = words.find((word) => word === text);
  if (known === undefined) throw new Error(words.map((word) => `"${word}"`).join(" or "));
  return known;
}

function readModel(cursor: LineCursor): ModelSpec {
  const name = cursor.word() ?? cursor.fail(`expected the model's name, found ${cursor.found}`);
  const { context, size, load, pull, ...rest } = cursor.options<ModelOptions>({
    context: positiveNumber,
    capabilities: (text) => text.split(","),
    installed: (text) => oneOf(text, ["yes", "no"]),
    size: positiveNumber,
    load: duration,
    pull: duration,
    cut: (text) => oneOf(text, ["refused", "silent"]),
  });
  cursor.end();
  return {
    name,
    ...rest,
    ...(context !== undefined && { contextLength: context }),
    ...(size !== undefined && { bytes: size }),
    ...(load !== undefined && { loadMs: load }),
    ...(pull !== undefined && { pullMs: pull }),
  };
}

function isReplyKeyword(keyword: string): boolean {
  return Object.hasOwn(ACTION_READERS, keyword) || Object.hasOwn(SETTING_READERS, keyword);
}

function indentOf(row: string): number {
  return row.length - row.trimStart().length;
}
