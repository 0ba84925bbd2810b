/**
 * A message as a Markdown file: YAML front matter and a body (message-body.ts).
 *
 * 1. Reading what was written gives back the same entry.
 * 2. Files by hand need no front matter: number and role are in the name. What cannot be understood is an error that names
 *    the file and the line, never a guess.
 */
import { type AssistantBlock, type InputContent, ownText, type ResultContent } from "../../protocol/content.js";
import type { ToolStatus } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import type { Usage } from "../../protocol/usage.js";
import { StoreError } from "../store.js";
import { type FrontMatter, renderFrontMatter, splitFrontMatter } from "./front-matter.js";
import { BodyError, type BodyRole, parseBody, renderBody } from "./message-body.js";

export type Stop = "end" | "tool_calls" | "length" | "error";

interface EntryBase {
  readonly seq: number;
  readonly timestamp?: string;
}

export interface UserEntry extends EntryBase {
  readonly role: "user";
  readonly content: readonly InputContent[];
  /** A summary that replaces everything before it. */
  readonly compaction?: true;
  /** Except the messages from this event on. */
  readonly keptFrom?: number;
}

export interface AssistantEntry extends EntryBase {
  readonly role: "assistant";
  readonly content: readonly AssistantBlock[];
  readonly model?: string;
  readonly provider?: string;
  readonly stop?: Stop;
  readonly usage?: Usage;
}

export interface ToolResultEntry extends EntryBase {
  readonly role: "tool_result";
  readonly content: readonly ResultContent[];
  /** Absent if the user omitted it: then it is the next call without a result. */
  readonly call?: CallId;
  readonly tool?: string;
  readonly status: ToolStatus;
}

export type MessageEntry = UserEntry | AssistantEntry | ToolResultEntry;

const ROLES: readonly BodyRole[] = ["user", "assistant", "tool_result"];
const STOPS: readonly Stop[] = ["end", "tool_calls", "length", "error"];
const STATUSES: readonly ToolStatus[] = ["ok", "error", "denied", "cancelled", "timeout", "skipped"];
const TOKENS = ["input", "output", "cache_read", "cache_write", "reasoning"] as const;

export function messageFileName({ seq, role }: Pick<MessageEntry, "seq" | "role">): string {
  return `${String(seq).padStart(4, "0")}-${role}.md`;
}

/** `12-user.md`, and `12.md` when the front matter has the role; undefined when it is not the name of a message. */
export function parseMessageFileName(name: string): { readonly seq: number; readonly role?: string } | undefined {
  const [, seq, role] = /^(\d{1,9})(?:[-_ ]([^.]*))?\.md$/i.exec(name) ?? [];
  if (seq === undefined) return undefined;
  return { seq: Number(seq), ...(role !== undefined && { role: role.toLowerCase().replaceAll("-", "_") }) };
}

export function renderMessage(entry: MessageEntry): string {
  const { role, seq, timestamp } = entry;
  return renderFrontMatter({ role, seq, timestamp, ...metadata(entry) }, renderBody(entry.content, role));
}

function metadata(entry: MessageEntry) {
  switch (entry.role) {
    case "user":
      return { compaction: entry.compaction, kept_from: entry.keptFrom };
    case "assistant": {
      const { model, provider, stop, usage } = entry;
      const tokens = usage && Object.fromEntries(TOKENS.map((name) => [`${name}_tokens`, usage[name]]));
      return { model, provider, stop, ...tokens };
    }
    case "tool_result":
      return { call: entry.call, tool: entry.tool, status: entry.status, own: ownBlocks(entry.content) };
  }
}

/** The numbers, from 1, of what the harness said itself: `1 3`. */
function ownBlocks(content: readonly ResultContent[]): string | undefined {
  const numbers = content.flatMap((block, at) => (block.type === "text" && block.own === true ? [at + 1] : []));
  return numbers.length === 0 ? undefined : numbers.join(" ");
}

function withOwn(content: readonly ResultContent[], own = ""): readonly ResultContent[] {
  const numbers = own.split(" ").map(Number);
  return content.map((block, at) => (block.type === "text" && numbers.includes(at + 1) ? ownText(block.text) : block));
}

/** `name` is the file's name, or its path when messages are to show that. */
export function parseMessage(file: string, name: string): MessageEntry {
  const matter = splitFrontMatter(file);
  const named = parseMessageFileName(name.split(/[\\/]/).at(-1) ?? "") ?? { seq: 0 };
  const wrong = (what: string) => new StoreError("invalid", `${name}: ${what}.`);
  const role = roleOf(matter.fields.get("role"), named.role, wrong);
  const stamp = matter.fields.get("timestamp");
  const base = { seq: named.seq, ...(stamp !== undefined && { timestamp: stamp }) };
  const callName = (index: number): CallId => `call_${named.seq}_${index}`;
  let content: ReturnType<typeof parseBody>;
  try {
    content = parseBody(matter.body, { role, callName });
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    throw new StoreError("invalid", `${name}, line ${matter.bodyLine + error.line}: ${error.message}.`);
  }
  // Which blocks a body can hold is decided by its role, in message-body.ts.
  const entry = { ...base, role, content, ...readMetadata(role, matter, wrong) } as MessageEntry;
  return entry.role === "tool_result" ? { ...entry, content: withOwn(entry.content, matter.fields.get("own")) } : entry;
}

/** The same message with other names for its calls. */
export function withCalls(entry: MessageEntry, callOf: (call: CallId) => CallId): MessageEntry {
  if (entry.role === "tool_result") return entry.call === undefined ? entry : { ...entry, call: callOf(entry.call) };
  if (entry.role === "user") return entry;
  const content = entry.content.map((block) =>
    block.type === "tool_use" ? { ...block, call: callOf(block.call) } : block,
  );
  return { ...entry, content };
}

type Wrong = (what: string) => StoreError;

function roleOf(written: string | undefined, named: string | undefined, wrong: Wrong): BodyRole {
  const choice = ROLES.join(", ");
  if (written !== undefined && named !== undefined && written !== named) {
    throw wrong(`the name says '${named}' and the front matter 'role: ${written}'. Make them the same`);
  }
  const text = written ?? named;
  const role = ROLES.find((each) => each === text);
  if (role === undefined)
    throw wrong(`${text ? `'${text}' is not a role` : "it has no role"}. Choose one of ${choice}`);
  return role;
}

function readMetadata(role: BodyRole, { fields }: FrontMatter, wrong: Wrong) {
  switch (role) {
    case "user":
      return fields.get("compaction") === "true" ? { compaction: true, ...keptFrom(fields) } : {};
    case "assistant": {
      const stop = choice("stop", fields, STOPS, wrong);
      return { ...present("model", fields), ...present("provider", fields), ...(stop && { stop }), ...usageOf(fields) };
    }
    case "tool_result":
      return {
        ...present("call", fields),
        ...present("tool", fields),
        status: choice("status", fields, STATUSES, wrong) ?? "ok",
      };
  }
}

type Fields = FrontMatter["fields"];

function keptFrom(fields: Fields): { readonly keptFrom?: number } {
  const event = Number(fields.get("kept_from"));
  return Number.isSafeInteger(event) && event > 0 ? { keptFrom: event } : {};
}

function present(name: string, fields: Fields): Record<string, string> {
  const value = fields.get(name);
  return value === undefined ? {} : { [name]: value };
}

function choice<T extends string>(name: string, fields: Fields, values: readonly T[], wrong: Wrong): T | undefined {
  const written = fields.get(name);
  if (written === undefined) return undefined;
  const value = values.find((each) => each === written);
  if (value === undefined) throw wrong(`'${name}: ${written}' is not one of ${values.join(", ")}`);
  return value;
}

/** Missing or invalid counts are ignored. */
function usageOf(fields: Fields): { readonly usage?: Usage } {
  if (!TOKENS.some((name) => fields.has(`${name}_tokens`))) return {};
  const count = (name: string) => Number(fields.get(`${name}_tokens`)) || 0;
  const [input, output] = [count("input"), count("output")];
  const cache = { cache_read: count("cache_read"), cache_write: count("cache_write") };
  return { usage: { input, output, ...cache, reasoning: count("reasoning") } };
}
