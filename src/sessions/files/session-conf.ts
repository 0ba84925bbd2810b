/**
 * `session.conf`: the record of a session, as `key=value` lines that people may read and edit.
 *
 * 1. A value is the rest of its line. One that does not fit on a line is a JSON string in quotes.
 * 2. Lines that we do not know, and comments, stay as they are.
 */
import { createHash, createHmac, hkdfSync } from "node:crypto";
import type { SessionEndReason } from "../../protocol/events.js";
import { isId, type SessionId } from "../../protocol/ids.js";
import type { Ancestor } from "../ancestors.js";
import { type NewSession, type SessionPatch, StoreError } from "../store.js";
import { toMilliseconds } from "../timestamp.js";

export interface SessionConf extends NewSession {
  readonly pinned: boolean;
  readonly expired_to: number;
  /** Events up to this one happened elsewhere (a branch, an import); 0 when all happened here. */
  readonly copied_to: number;
  readonly noticed_at?: string;
  readonly ended?: SessionEndReason;
  /** Says with which key the session was made (`fingerprint`). */
  readonly chain: string;
  /** The logs that the first events of a branch were written to. */
  readonly ancestors: readonly Ancestor[];
}

/** Digits of a fingerprint. */
const FINGERPRINT = 32;

/** Only who has the key can make it, for this session and log only; without a key, anyone can. The form is that of earlier versions. */
export function fingerprint(key: Uint8Array | undefined, { id, log }: Pick<NewSession, "id" | "log">): string {
  const names = `${id} ${log}`;
  const text = `\0key\0${names}`;
  if (key === undefined) return createHash("sha256").update(`${names}${text}`).digest("hex").slice(0, FINGERPRINT);
  const own = Buffer.from(hkdfSync("sha256", key, names, "oxbow session files 1", 32));
  return createHmac("sha256", own).update(text).digest("hex").slice(0, FINGERPRINT);
}

/** The events that a session begins with when it is a branch. */
export interface Inherited {
  readonly ancestors: readonly Ancestor[];
  readonly copied_to: number;
  readonly expired_to: number;
}

export type ConfValues = Readonly<Record<string, string | undefined>>;

const COMMENT = "# An Oxbow session. The conversation is in messages/, the log in events.jsonl.";
const END_REASONS: readonly SessionEndReason[] = ["idle", "user", "paused", "error", "binary-shutdown"];

export function renderConf(session: NewSession, chain: string, inherited?: Inherited): string {
  return withValues(`${COMMENT}\n`, {
    id: session.id,
    log: session.log,
    model: session.model,
    provider: session.provider,
    cwd: session.cwd,
    created_at: session.created_at,
    active_at: session.created_at,
    title: session.title,
    profile: session.profile,
    pinned: "false",
    branch_session: session.branch_of?.session,
    branch_event: session.branch_of && String(session.branch_of.event),
    parent_session: session.parent?.session,
    parent_turn: session.parent?.turn,
    parent_call: session.parent?.call,
    ancestors: inherited?.ancestors.map(({ last, session, log }) => `${last} ${session} ${log}`).join(", "),
    copied_to: inherited && String(inherited.copied_to),
    expired_to: inherited && inherited.expired_to > 0 ? String(inherited.expired_to) : undefined,
    chain,
  });
}

/** The text with these values instead of its own; undefined removes a line. */
export function withValues(text: string, values: ConfValues): string {
  const left = new Map(Object.entries(values));
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const key = keyOf(line);
    if (key === undefined || !Object.hasOwn(values, key)) {
      lines.push(line);
      continue;
    }
    const value = left.get(key);
    left.delete(key);
    if (value !== undefined) lines.push(renderLine(key, value));
  }
  while (lines.at(-1)?.trim() === "") lines.pop();
  for (const [key, value] of left) if (value !== undefined) lines.push(renderLine(key, value));
  return `${lines.join("\n")}\n`;
}

export function parseConf(text: string, path: string): SessionConf {
  const values = new Map<string, string>();
  for (const line of text.replace(/^\ufeff/, "").split(/\r?\n/)) {
    const key = keyOf(line);
    if (key !== undefined) values.set(key, parseValue(line.slice(line.indexOf("=") + 1).trim()));
  }
  const wrong = (what: string) => new StoreError("damaged", `${path} ${what}. Correct it by hand.`);
  const required = (key: string): string => {
    const value = values.get(key);
    if (value === undefined) throw wrong(`has no line '${key}='`);
    return value;
  };
  const count = (key: string): number | undefined => {
    const value = values.get(key);
    if (value === undefined) return undefined;
    if (!/^\d{1,15}$/.test(value)) throw wrong(`has '${key}=${value}', which is not a number`);
    return Number(value);
  };
  const time = (key: string): string => {
    const value = required(key);
    if (!isTime(value)) throw wrong(`has '${key}=${value}', which is not a time in UTC with milliseconds`);
    return value;
  };
  const [id, log] = [required("id"), required("log")];
  if (!isId("sess", id) || !isId("log", log)) throw wrong("does not name its session and log");
  const ended = values.get("ended");
  if (ended !== undefined && !isEndReason(ended)) {
    throw wrong(`has 'ended=${ended}', which is not one of ${END_REASONS.join(", ")}`);
  }
  const title = values.get("title");
  return {
    id,
    log,
    cwd: required("cwd"),
    provider: required("provider"),
    model: required("model"),
    created_at: time("created_at"),
    ...(title !== undefined && { title }),
    ...(values.has("profile") && { profile: required("profile") }),
    ...branchOf(values.get("branch_session"), count("branch_event")),
    ...parentOf(values.get("parent_session"), values.get("parent_turn"), values.get("parent_call")),
    pinned: values.get("pinned") === "true",
    expired_to: count("expired_to") ?? 0,
    copied_to: count("copied_to") ?? 0,
    ...(values.has("noticed_at") && { noticed_at: time("noticed_at") }),
    ...(ended !== undefined && { ended }),
    chain: required("chain"),
    ancestors: ancestors(values.get("ancestors")).map((found) => {
      if (found === undefined) throw wrong("has a line 'ancestors=' that cannot be read");
      return found;
    }),
  };
}

function isTime(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text;
}

function branchOf(session: string | undefined, event: number | undefined): Pick<NewSession, "branch_of"> {
  return session === undefined || event === undefined ? {} : { branch_of: { session: session as SessionId, event } };
}

/** `16 sess_… log_…, 42 sess_… log_…`: up to which event each log reaches. */
function ancestors(text: string | undefined): (Ancestor | undefined)[] {
  return (text === undefined ? [] : text.split(",")).map((each) => {
    const [last = "", session = "", log = ""] = each.trim().split(/\s+/);
    if (!/^\d{1,15}$/.test(last) || !isId("sess", session) || !isId("log", log)) return undefined;
    return { last: Number(last), session, log };
  });
}

function parentOf(...[session, turn, call]: readonly (string | undefined)[]): Pick<NewSession, "parent"> {
  const isWhole = session !== undefined && turn !== undefined && call !== undefined;
  if (!isWhole || !isId("sess", session) || !isId("turn", turn) || !isId("call", call)) return {};
  return { parent: { session, turn, call } };
}

function isEndReason(text: string): text is SessionEndReason {
  return (END_REASONS as readonly string[]).includes(text);
}

function keyOf(line: string): string | undefined {
  return /^\s*([a-z_]+)\s*=/.exec(line)?.[1];
}

function renderLine(key: string, value: string): string {
  const plain = value === value.trim() && !/^"|[\0-\x1f\x7f\u2028\u2029]|\p{Surrogate}/u.test(value);
  return `${key}=${plain ? value : JSON.stringify(value)}`;
}

function parseValue(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    // A quote that the user wrote.
    return text;
  }
}

/** The values that a change of a session's record sets. */
export function confOf(patch: SessionPatch): ConfValues {
  const { title, provider, model, pinned, ended, noticed_at } = patch;
  if (noticed_at) toMilliseconds(noticed_at);
  return {
    ...(title !== undefined && { title: title ?? undefined }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(pinned !== undefined && { pinned: String(pinned) }),
    ...(ended !== undefined && { ended: ended ?? undefined }),
    ...(noticed_at !== undefined && { noticed_at: noticed_at ?? undefined }),
  };
}
