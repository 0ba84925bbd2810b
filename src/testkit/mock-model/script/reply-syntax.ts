/** The statements of a reply: each parses the rest of its line into an action or a setting. */
import type { Usage } from "../../../protocol/usage.js";
import { parseConditions } from "./condition-syntax.js";
import { anyText, duration, type LineCursor, list, positiveNumber, wholeNumber } from "./line-cursor.js";
import {
  type Action,
  ERROR_KINDS,
  type ErrorAction,
  type ErrorKind,
  type Pace,
  type Reply,
  type Split,
  STOP_REASONS,
  type ToolAction,
} from "./script.js";

export interface StatementContext {
  readonly cursor: LineCursor;
  /** The deeper indented lines below the statement, as text. */
  block(): string | undefined;
}

const PACE = { chunks: positiveNumber, size: positiveNumber, everyMs: duration };

export const ACTION_READERS: Readonly<Record<string, (context: StatementContext) => Action>> = {
  text(context) {
    const options = context.cursor.options<Pace & { repeat?: number }>({ ...PACE, repeat: positiveNumber });
    return { type: "text", ...options, text: readText(context, "text") };
  },
  thinking(context) {
    const readers = { ...PACE, repeat: positiveNumber, signature: anyText };
    const options = context.cursor.options<Pace & { repeat?: number; signature?: string }>(readers);
    return { type: "thinking", ...options, text: readText(context, "thinking") };
  },
  "redacted-thinking": (context) => ({ type: "redacted-thinking", data: readText(context, "redacted-thinking") }),
  tool: readTool,
  delay({ cursor }) {
    const text = cursor.take(/[\w.]+/) ?? "";
    try {
      return { type: "delay", ms: duration(text) };
    } catch (error) {
      return cursor.fail(`expected ${(error as Error).message} after "delay", found "${text}"`);
    }
  },
  start: () => ({ type: "start" }),
  ping: () => ({ type: "ping" }),
  comment: (context) => ({ type: "comment", text: readText(context, "comment") }),
  event({ cursor }) {
    const name = cursor.word() ?? cursor.fail(`expected the event's name, found ${cursor.found}`);
    return { type: "event", name, data: cursor.json() ?? cursor.quoted() ?? "{}" };
  },
  garbage: (context) => ({ type: "garbage", text: optionalText(context) ?? "{not json" }),
  raw: (context) => ({ type: "raw", text: readText(context, "raw") }),
  html(context) {
    const status = Number(context.cursor.take(/[1-5]\d\d(?!\d)/) ?? 200);
    return { type: "html", status, text: optionalText(context) ?? HTML_PAGE };
  },
  error: ({ cursor }) => readError(cursor),
  drop: ({ cursor }) => ({ type: "drop", how: cursor.take(/reset\b/) === undefined ? "close" : "reset" }),
  cut: () => ({ type: "cut" }),
  hang: () => ({ type: "hang" }),
};

export const SETTING_READERS: Readonly<
  Record<string, (context: StatementContext, reply: Reply) => Omit<Partial<Reply>, "actions">>
> = {
  usage({ cursor }) {
    if (cursor.take(/none\b/) !== undefined) return { usage: "none" };
    const count = wholeNumber;
    const readers = { input: count, output: count, cache_read: count, cache_write: count, reasoning: count };
    const usage = cursor.options<Usage>(readers);
    if (Object.keys(usage).length > 0) return { usage };
    return cursor.fail(
      `expected none, input=, output=, cache-read=, cache-write= or reasoning=, found ${cursor.found}`,
    );
  },
  stop({ cursor }) {
    const literal = cursor.quoted();
    if (literal !== undefined) return { stop: literal };
    const found = cursor.found;
    const word = cursor.word();
    const reason = STOP_REASONS.find((known) => known === word);
    return {
      stop: reason ?? cursor.fail(`expected ${list(STOP_REASONS)}, or the wire's own word in quotes, found ${found}`),
    };
  },
  header(context, reply) {
    const { cursor } = context;
    const name = cursor.take(/[\w-]+/) ?? cursor.fail(`expected the header's name, found ${cursor.found}`);
    return { headers: { ...reply.headers, [name.toLowerCase()]: readText(context, `header ${name}`) } };
  },
  split: ({ cursor }) => ({ split: readSplit(cursor) }),
  flush: () => ({ flush: "each-delta" }),
  expect: ({ cursor }, reply) => ({ expect: [...(reply.expect ?? []), ...parseConditions(cursor)] }),
};

const HTML_PAGE = "<!doctype html>\n<html><head><title>Welcome</title></head><body><h1>It works</h1></body></html>\n";

function optionalText({ cursor, block }: StatementContext): string | undefined {
  const quoted = cursor.quoted();
  if (quoted !== undefined) return quoted;
  const verbatim = cursor.verbatim();
  return verbatim === "" ? block() : verbatim;
}

function readText(context: StatementContext, after: string): string {
  const { cursor } = context;
  const text = optionalText(context);
  return (
    text ??
    cursor.fail(`expected "${after}: …", "${after}:" with indented lines below, or "${after}" and a quoted text`)
  );
}

function readTool(context: StatementContext): ToolAction {
  const { cursor } = context;
  const name = cursor.word() ?? cursor.fail(`expected the tool's name, found ${cursor.found}`);
  const { pieces, ...rest } = cursor.options<{ id?: string; pieces?: number; size?: number; everyMs?: number }>({
    id: anyText,
    pieces: positiveNumber,
    size: positiveNumber,
    everyMs: duration,
  });
  const options = { ...rest, ...(pieces !== undefined && { chunks: pieces }) };
  if (cursor.take(/raw(?=:)/) !== undefined) return { type: "tool", name, ...options, args: readText(context, "raw") };
  const written = cursor.json() ?? (cursor.peek(/$|#/) ? context.block() : undefined) ?? "{}";
  if (!isObject(written)) {
    cursor.fail(`expected the arguments as a JSON object (use "raw:" for broken ones), found ${written.slice(0, 60)}`);
  }
  return { type: "tool", name, ...options, args: written };
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function readSplit(cursor: LineCursor): Split {
  if (cursor.take(/random(?=\s)/) !== undefined) {
    return { seed: Number(cursor.take(/\d+/) ?? cursor.fail(`expected a seed after "random", found ${cursor.found}`)) };
  }
  const bytes = cursor.take(/[1-9]\d*/);
  return { bytes: Number(bytes ?? cursor.fail(`expected a number of bytes or "random SEED", found ${cursor.found}`)) };
}

function readError(cursor: LineCursor): ErrorAction {
  const status = cursor.take(/[1-5]\d\d(?!\d)/);
  const kind = readErrorKind(cursor);
  if (status === undefined && kind === undefined) {
    cursor.fail(`expected an HTTP status or ${list(ERROR_KINDS)}, found ${cursor.found}`);
  }
  const message = cursor.quoted();
  const { retryAfter, type, code } = cursor.options<{ retryAfter?: number; type?: string; code?: string }>({
    retryAfter: (text) => (/^\d+$/.test(text) ? Number(text) * 1000 : duration(text)),
    type: anyText,
    code: anyText,
  });
  return {
    type: "error",
    ...(status !== undefined && { status: Number(status) }),
    ...(kind !== undefined && { kind }),
    ...(message !== undefined && { message }),
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
    ...(type !== undefined && { errorType: type }),
    ...(code !== undefined && { code }),
  };
}

function readErrorKind(cursor: LineCursor): ErrorKind | undefined {
  const word = cursor.word();
  if (word === undefined) return undefined;
  return (
    ERROR_KINDS.find((kind) => kind === word) ??
    cursor.fail(`expected ${list(ERROR_KINDS)} (or type=… for another), found "${word}"`)
  );
}
