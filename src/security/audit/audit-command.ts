/** `/audit show [N] | clear | status`. */
import { safeLine } from "../../base/terminal-text.js";
import { AUDIT_CAPACITY, type AuditEntry, type AuditOutcome, type AuditRing } from "./audit-ring.js";

export interface AuditReply {
  readonly ok: boolean;
  readonly text: string;
}

const SHOWN = 20;
const USAGE = "Usage: /audit show [NUMBER], /audit clear or /audit status.";

export function auditCommand(args: string, ring: AuditRing): AuditReply {
  const [verb = "show", count, ...more] = args.trim().split(/\s+/).filter(Boolean);
  if (more.length > 0) return { ok: false, text: USAGE };
  if (verb === "show") {
    if (count !== undefined && !/^[1-9][0-9]{0,6}$/.test(count)) return { ok: false, text: USAGE };
    const entries = ring.entries(count === undefined ? SHOWN : Number(count));
    return {
      ok: true,
      text:
        entries.length === 0
          ? "The audit is empty: there are no decisions or calls yet."
          : entries.map(line).join("\n"),
    };
  }
  if (count !== undefined) return { ok: false, text: USAGE };
  if (verb === "clear") {
    const cleared = ring.clear();
    return { ok: true, text: `${cleared} ${entriesWord(cleared)} cleared. The session's log keeps them.` };
  }
  return verb === "status" ? { ok: true, text: auditStatus(ring) } : { ok: false, text: USAGE };
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
