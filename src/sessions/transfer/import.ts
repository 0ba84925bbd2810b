/**
 * Reads a transcript of any known kind into a new session. The kind is found by looking at the first lines.
 *
 * 1. For any input, the resulting events follow the rules of protocol/events.ts: the session can be stored, shown and
 *    resumed, also by another provider.
 * 2. Nothing is dropped silently: `notes` lists it, and is complete when `events` has ended.
 * 3. The same lines with the same ids give the same events.
 */

import type { Envelope } from "../../protocol/envelope.js";
import type { ClientId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import type { SessionIds } from "../branch.js";
import { type Redactor, redactEvents } from "../redacted-events.js";
import { type NewSession, StoreError } from "../store.js";
import { readClaudeCode } from "./claude-code.js";
import { readCodex } from "./codex.js";
import { ITEM_KINDS } from "./codex-items.js";
import { titleOf } from "./fields.js";
import { firstInput, foreignEvents } from "./foreign-events.js";
import type { ForeignSession } from "./foreign-session.js";
import { parseLines, type SourceLine } from "./lines.js";
import { ImportNotes } from "./notes.js";
import { isHeader, looksLikeEnvelope, ownEvents, ownRecord } from "./own-export.js";

export type TranscriptKind = "oxbow" | "claude-code" | "codex";

/** `session` and `log` are the ids of the new session. */
export interface ImportOptions extends SessionIds {
  /** Instead of the folder that the transcript names. */
  readonly cwd?: string;
  /** Says who is said to have sent the inputs, where the transcript does not say. */
  readonly client: ClientId;
  readonly redactor: Redactor;
  /** The time for a transcript without times, such as that of its file. */
  readonly startedAt?: string;
}

export interface ImportedSession {
  readonly kind: TranscriptKind;
  readonly record: NewSession;
  readonly events: AsyncIterable<Envelope>;
  readonly notes: readonly string[];
}

/** Enough to know the kind and, of an export without its header, the model. */
const HEAD = 60;

export async function importTranscript(lines: AsyncIterable<string>, options: ImportOptions): Promise<ImportedSession> {
  const collected = new ImportNotes();
  const parsed = parseLines(lines, collected);
  const head: SourceLine[] = [];
  while (head.length < HEAD) {
    const next = await parsed.next();
    if (next.done === true) break;
    head.push(next.value);
  }
  const kind = transcriptKind(head.map(({ value }) => value));
  if (kind === undefined) throw unknownKind(head.length === 0);
  const all = chain(head, parsed);
  const notes: string[] = [];
  if (kind === "oxbow") {
    const record = ownRecord(head, options);
    const events = redactEvents(ownEvents(all, options, collected), options.redactor);
    return { kind, record, events: thenCollectNotes(events, collected, notes), notes };
  }
  const session = await (kind === "codex" ? readCodex(all, collected) : readClaudeCode(all, collected));
  if (session.turns.length === 0) {
    throw new StoreError("invalid", "The transcript holds no conversation: there is nothing to import.");
  }
  const record = foreignRecord(session, options);
  if (record.cwd === "") collected.add("The transcript does not name its folder.");
  const events = redactEvents(foreignEvents(session, { ...options, startedAt: record.created_at }), options.redactor);
  return { kind, record, events: thenCollectNotes(events, collected, notes), notes };
}

/** Tells what most of the lines are; undefined when none is of a known kind. */
function transcriptKind(lines: readonly JsonObject[]): TranscriptKind | undefined {
  if (lines.some((line) => isHeader(line) || looksLikeEnvelope(line))) return "oxbow";
  const codex = lines.filter(isCodexLine).length;
  const claude = lines.filter(isClaudeLine).length;
  if (codex === 0 && claude === 0) return undefined;
  return codex > claude ? "codex" : "claude-code";
}

const CODEX_WRAPPERS: ReadonlySet<unknown> = new Set(["session_meta", "response_item", "event_msg", "turn_context"]);

function isCodexLine(line: JsonObject): boolean {
  if (CODEX_WRAPPERS.has(line.type)) return typeof line.payload === "object";
  if (line.record_type === "state") return true;
  if (typeof line.type === "string" && ITEM_KINDS.has(line.type)) return line.message === undefined;
  return line.type === undefined && typeof line.id === "string" && Object.hasOwn(line, "instructions");
}

function isClaudeLine(line: JsonObject): boolean {
  if (typeof line.type !== "string" || line.payload !== undefined) return false;
  if (line.type === "user" || line.type === "assistant") return typeof line.message === "object";
  return typeof line.sessionId === "string" || typeof line.uuid === "string" || typeof line.leafUuid === "string";
}

function foreignRecord(session: ForeignSession, { session: id, log, ...options }: ImportOptions): NewSession {
  const { provider, model, cwd, startedAt } = session;
  const title = titleOf(session.title ?? firstInput(session.turns));
  return {
    id,
    log,
    cwd: options.cwd ?? cwd ?? "",
    provider,
    model,
    created_at: startedAt ?? options.startedAt ?? new Date(0).toISOString(),
    ...(title !== undefined && { title: options.redactor.redact(title) }),
  };
}

async function* chain(head: readonly SourceLine[], rest: AsyncIterable<SourceLine>): AsyncGenerator<SourceLine> {
  yield* head;
  yield* rest;
}

async function* thenCollectNotes(
  events: AsyncIterable<Envelope>,
  collected: ImportNotes,
  notes: string[],
): AsyncGenerator<Envelope> {
  yield* events;
  notes.push(...collected.list());
}

function unknownKind(isEmpty: boolean): StoreError {
  const what = isEmpty ? "The file has no line of JSON" : "Oxbow does not know this kind of transcript";
  return new StoreError(
    "invalid",
    `${what}. Oxbow imports JSON lines from 'oxbow session export', a Claude Code transcript (.claude/projects/…/*.jsonl), a Codex rollout (.codex/sessions/…/rollout-*.jsonl).`,
  );
}
