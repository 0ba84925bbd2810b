/**
 * The audit: the last decisions and their results.
 *
 * 1. It is made from the events of the log only, so the ring and the log cannot disagree. A resumed session rebuilds its ring by
 *    sending the old events through `see`.
 * 2. It holds at most `AUDIT_CAPACITY` entries; the oldest are dropped first. `clear` empties the ring, never the log.
 */
import type { Envelope } from "../../protocol/envelope.js";
import type { EventPayloads, ToolStatus } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import { describeCall } from "../permissions/facts.js";

export const AUDIT_CAPACITY = 1000;

export type AuditOutcome = "allowed" | "denied" | "error" | "success";

export interface AuditEntry {
  /** RFC 3339, from the event. */
  readonly time: string;
  /** `permission` or `run`. */
  readonly action: "permission" | "run";
  readonly detail: string;
  readonly outcome: AuditOutcome;
  readonly decided_by?: string;
  /** The reason why it was asked about or denied. */
  readonly reason?: string;
  readonly call: CallId;
  /** The event in the log. */
  readonly event: number;
}

const DETAIL_LENGTH = 200;

const OUTCOMES: Readonly<Record<ToolStatus, AuditOutcome | undefined>> = {
  ok: "success",
  error: "error",
  timeout: "error",
  cancelled: "error",
  denied: "denied",
  skipped: undefined,
};

export class AuditRing {
  readonly capacity = AUDIT_CAPACITY;
  readonly #entries: AuditEntry[] = [];
  readonly #details = new Map<CallId, string>();
  readonly #reasons = new Map<CallId, string>();
  readonly #denied = new Set<CallId>();
  #dropped = 0;

  /** Takes every event of a session, and ignores most of them. */
  see(event: Envelope): void {
    switch (event.kind) {
      case "ToolCallStarted":
      case "PermissionRequested":
        this.#describe(event.payload);
        if (event.kind === "PermissionRequested" && event.payload.reason !== undefined) {
          this.#reasons.set(event.payload.call, event.payload.reason);
        }
        break;
      case "PermissionResolved":
        this.#resolved(event.payload, event);
        break;
      case "ToolResult":
        this.#ran(event.payload, event);
        break;
      default:
    }
  }

  /** Oldest first; with a count, only that many of the latest. */
  entries(count = this.#entries.length): readonly AuditEntry[] {
    return count <= 0 ? [] : this.#entries.slice(-count);
  }

  /** Counts how many entries were dropped since the start or the last `clear`. */
  get dropped(): number {
    return this.#dropped;
  }

  clear(): number {
    this.#dropped = 0;
    return this.#entries.splice(0).length;
  }

  #describe({ call, tool, args }: { readonly call: CallId; readonly tool: string; readonly args: JsonObject }): void {
    const text = describeCall(tool, args).replaceAll(/\s+/g, " ");
    this.#details.set(call, text.length > DETAIL_LENGTH ? `${text.slice(0, DETAIL_LENGTH - 1)}…` : text);
  }

  #resolved(payload: EventPayloads["PermissionResolved"], event: Envelope): void {
    const { call, tool, decision, decided_by, message, args } = payload;
    if (args !== undefined) this.#describe({ call, tool, args });
    const outcome = decision === "deny" ? "denied" : "allowed";
    if (outcome === "denied") this.#denied.add(call);
    const reason = this.#reasons.get(call) ?? message;
    const why = reason === undefined ? { decided_by } : { decided_by, reason };
    this.#add({ ...this.#common(call, tool, event), action: "permission", outcome, ...why });
    // A command that a person typed has no result in the log.
    if (args !== undefined) this.#forget(call);
  }

  /** The result of a call without a question names what allowed it: one entry for both. */
  #ran({ call, tool, status, decided_by }: EventPayloads["ToolResult"], event: Envelope): void {
    const outcome = OUTCOMES[status];
    // The denial has an entry of its own.
    const known = status === "denied" && this.#denied.has(call);
    const why = decided_by === undefined ? {} : { decided_by };
    if (outcome !== undefined && !known)
      this.#add({ ...this.#common(call, tool, event), action: "run", outcome, ...why });
    this.#forget(call);
  }

  #forget(call: CallId): void {
    this.#details.delete(call);
    this.#reasons.delete(call);
    this.#denied.delete(call);
  }

  #common(call: CallId, tool: string, event: Envelope) {
    return { time: event.ts, detail: this.#details.get(call) ?? tool, call, event: event.id };
  }

  #add(entry: AuditEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length <= AUDIT_CAPACITY) return;
    this.#entries.shift();
    this.#dropped += 1;
  }
}
