/**
 * The rows of `calls`: what was begun, and how it ended.
 *
 * 1. A row begins as an intent; its end is written into it once.
 * 2. The ledger keeps the hash of the arguments until the call has a result. After that the events have the arguments.
 */
import type { CallId } from "../../protocol/ids.js";
import type { Database } from "../../system/sqlite/database.js";
import { endedBefore, neverStarted, startedBefore } from "../log-rules.js";
import type { Conclusion, Intent } from "../store.js";
import { toMilliseconds, toTimestamp } from "../timestamp.js";
import { callIdFromBytes, callIdToBytes } from "./call-id.js";
import type { Names } from "./names.js";
import type { Head } from "./session-table.js";

const CALL = { mutating: "integer", outcome: "integer?" } as const;
const OPEN_CALL = {
  call: "bytes",
  tool: "integer",
  args_hash: "text",
  mutating: "integer",
  whole: "integer",
  started_at: "integer",
} as const;

export class Ledger {
  readonly #database: Database;
  readonly #names: Names;

  constructor(database: Database, names: Names) {
    this.#database = database;
    this.#names = names;
  }

  /** Writes it, or refuses and writes nothing. */
  intention(head: Head, intent: Intent): void {
    const { call, tool, args_hash, mutating, whole = false } = intent;
    const started = toMilliseconds(intent.started_at);
    const written = this.#database.run(
      `INSERT INTO calls (call, session, tool, mutating, whole, started_at, args_hash) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
      [callIdToBytes(call), head.number, this.#names.numberOf(tool), mutating, whole, started, args_hash],
    );
    if (written === 0) throw startedBefore(call);
  }

  conclusion(call: CallId, { outcome, completed_at, result_event, note }: Conclusion): void {
    const completed = toMilliseconds(completed_at);
    const bytes = callIdToBytes(call);
    const written = this.#database.run(
      `UPDATE calls SET outcome = ?, took_ms = ? - started_at, result_event = ?, note = ?, args_hash = NULL
       WHERE call = ? AND outcome IS NULL`,
      [this.#names.numberOf(outcome), completed, result_event ?? null, note ?? null, bytes],
    );
    if (written > 0) return;
    const found = this.#find(bytes);
    if (found?.outcome === undefined) throw neverStarted(call);
    throw endedBefore(call, this.#names.nameOf(found.outcome));
  }

  isMutating(call: CallId): boolean {
    return this.#find(callIdToBytes(call))?.mutating === 1;
  }

  orphans(head: Head): Intent[] {
    const rest = "FROM calls WHERE session = ? AND outcome IS NULL ORDER BY started_at, call";
    return this.#database.select(OPEN_CALL, rest, [head.number]).map((row) => ({
      call: callIdFromBytes(row.call),
      session: head.session,
      tool: this.#names.nameOf(row.tool),
      args_hash: row.args_hash,
      mutating: row.mutating === 1,
      ...(row.whole === 1 && { whole: true }),
      started_at: toTimestamp(row.started_at),
    }));
  }

  /** Tells what people said about calls that began before `time` (in milliseconds). */
  dropNotes(head: Head, time: number): void {
    this.#database.run("UPDATE calls SET note = NULL WHERE session = ? AND started_at <= ? AND note IS NOT NULL", [
      head.number,
      time,
    ]);
  }

  delete(head: Head): void {
    this.#database.run("DELETE FROM calls WHERE session = ?", [head.number]);
  }

  #find(call: Buffer) {
    return this.#database.first(CALL, "FROM calls WHERE call = ?", [call]);
  }
}
