/** The rows of `tool_call_intents` and `tool_call_outcomes` (feature S3). Both are only ever added to. */
import type { CallId } from "../../protocol/ids.js";
import { isId } from "../../protocol/ids.js";
import { type Conclusion, type Intent, StoreError } from "../store.js";
import type { Database } from "./database.js";
import type { Head } from "./session-table.js";
import { toMilliseconds, toTimestamp } from "./timestamp.js";

const INTENT = {
  call_id: "text",
  tool_name: "text",
  args_hash: "text",
  is_mutating: "integer",
  started_at: "integer",
} as const;

export class Ledger {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Checks, and returns what writes. */
  intention(head: Head, intent: Intent): () => void {
    const { call, tool, args_hash, mutating } = intent;
    if (!isId("call", call)) throw new StoreError("invalid", `'${call}' is not a call id.`);
    const started = toMilliseconds(intent.started_at);
    if (this.isMutating(call) !== undefined) {
      throw new StoreError("conflict", `The call ${call} was started before: it must not run again.`);
    }
    return () =>
      this.#database.run(
        `INSERT INTO tool_call_intents (call_id, session, tool_name, args_hash, is_mutating, started_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        [call, head.number, tool, args_hash, mutating, started],
      );
  }

  conclusion(call: CallId, { outcome, completed_at, result_event, note }: Conclusion): () => void {
    const completed = toMilliseconds(completed_at);
    if (this.isMutating(call) === undefined) throw new StoreError("not-found", `The call ${call} was never started.`);
    const earlier = this.#database.first({ outcome: "text" }, "FROM tool_call_outcomes WHERE call_id = ?", [call]);
    if (earlier !== undefined) {
      throw new StoreError("conflict", `The call ${call} has ended before, with '${earlier.outcome}'.`);
    }
    return () =>
      this.#database.run(
        "INSERT INTO tool_call_outcomes (call_id, outcome, completed_at, result_event, note) VALUES (?, ?, ?, ?, ?)",
        [call, outcome, completed, result_event ?? null, note ?? null],
      );
  }

  /** undefined when the call was never intended. */
  isMutating(call: CallId): boolean | undefined {
    const row = this.#database.first({ is_mutating: "integer" }, "FROM tool_call_intents WHERE call_id = ?", [call]);
    return row && row.is_mutating === 1;
  }

  orphans(head: Head): Intent[] {
    const rows = this.#database.select(
      INTENT,
      `FROM tool_call_intents WHERE session = ? AND call_id NOT IN (SELECT call_id FROM tool_call_outcomes)
       ORDER BY started_at, call_id`,
      [head.number],
    );
    return rows.map((row) => ({
      call: row.call_id as CallId,
      session: head.session,
      tool: row.tool_name,
      args_hash: row.args_hash,
      mutating: row.is_mutating === 1,
      started_at: toTimestamp(row.started_at),
    }));
  }

  delete(head: Head): void {
    this.#database.run("DELETE FROM tool_call_intents WHERE session = ?", [head.number]);
  }
}
