/** `/audit`: the entries as text and as data. */
import { safeLine } from "../../base/terminal-text.js";
import type { JsonObject } from "../../protocol/json.js";
import { AUDIT_CAPACITY, type AuditEntry, type AuditOutcome, type AuditRing } from "./audit-ring.js";

const SHOWN = 20;

export function showAudit(ring: AuditRing, count = SHOWN): { readonly text: string; readonly value: JsonObject } {
  const entries = ring.entries(count);
  const text =
    entries.length === 0 ? "The audit is empty: there are no decisions or calls yet." : entries.map(line).join("\n");
  return { text, value: { entries: entries.map((entry) => ({ ...entry })) } };
}

export function clearAudit(ring: AuditRing): { readonly text: string; readonly value: JsonObject } {
  const cleared = ring.clear();
  return { text: `${cleared} ${entriesWord(cleared)} cleared. The session's log keeps them.`, value: { cleared } };
}

const OUTCOMES: readonly AuditOutcome[] = ["allowed", "denied", "success", "error"];

export function auditStatus(ring: AuditRing): string {
  const entries = ring.entries();
  const [first] = entries;
  if (first === undefined) return `Audit: empty (room for ${AUDIT_CAPACITY}).`;
  const counts = OUTCOMES.map((outcome) => `${entries.filter((entry) => entry.outcome === outcome).length} ${outcome}`);
  const dropped = ring.dropped === 0 ? "" : ` ${ring.dropped} older ones are in the log only.`;
  return `Audit: ${entries.length} of ${AUDIT_CAPACITY} ${entriesWord(AUDIT_CAPACITY)} since ${first.time}: ${counts.join(", ")}.${dropped}`;
}

function line({ time, outcome, detail, decided_by }: AuditEntry): string {
  return `${time}  ${outcome.padEnd(7)}  ${safeLine(detail)}${decided_by === undefined ? "" : `  (${safeLine(decided_by)})`}`;
}

function entriesWord(count: number): string {
  return count === 1 ? "entry" : "entries";
}
