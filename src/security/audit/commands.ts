/** `/audit`: the entries as text and as data. */
import { safeLine } from "../../base/terminal-text.js";
import { type Command, type CommandOf, IN_SESSION, refuse, type Subject, withPort } from "../../feature/command.js";
import type { AuditEntry, AuditOutcome, AuditRing } from "./audit-ring.js";

const SHOWN = 20;
const USERS = ["people"] as const;

const COMMANDS: readonly CommandOf<AuditRing>[] = [
  {
    name: "audit:show",
    aliases: ["audit"],
    summary: "show the latest entries (default 20)",
    arguments: [{ name: "N", kind: "number", optional: true }],
    reaches: "session",
    users: USERS,
    places: IN_SESSION,
    run: (args, ring) => {
      const count = args.number("N");
      if (count === 0) return refuse("N: expected a number from 1.");
      const entries = ring.entries(count ?? SHOWN);
      const text = entries.map(line).join("\n") || "The audit is empty: there are no decisions or calls yet.";
      return { text, value: { entries: entries.map((entry) => ({ ...entry })) } };
    },
  },
  {
    name: "audit:clear",
    summary: "clear the list; the session's log keeps the entries",
    users: USERS,
    places: IN_SESSION,
    run: (_args, ring) => {
      const cleared = ring.clear();
      return { text: `${cleared} ${entriesWord(cleared)} cleared. The session's log keeps them.`, value: { cleared } };
    },
  },
  {
    name: "audit:status",
    summary: "count the entries",
    reaches: "session",
    users: USERS,
    places: IN_SESSION,
    run: (_args, ring) => ({
      text: auditStatus(ring),
      value: { entries: ring.entries().length, dropped: ring.dropped },
    }),
  },
];

export const subject: Subject = {
  name: "audit",
  summary: "show what was allowed, denied and run",
  heading: "Permissions",
  specs: COMMANDS,
};

export function auditCommands(ring: () => Promise<AuditRing>): readonly Command[] {
  return withPort(COMMANDS, ring);
}

const OUTCOMES: readonly AuditOutcome[] = ["allowed", "denied", "success", "error"];

export function auditStatus(ring: AuditRing): string {
  const entries = ring.entries();
  const [first] = entries;
  if (first === undefined) return `Audit: empty (room for ${ring.capacity}).`;
  const counts = OUTCOMES.map((outcome) => `${entries.filter((entry) => entry.outcome === outcome).length} ${outcome}`);
  const dropped = ring.dropped === 0 ? "" : ` ${ring.dropped} older ones are in the log only.`;
  return `Audit: ${entries.length} of ${ring.capacity} ${entriesWord(ring.capacity)} since ${first.time}: ${counts.join(", ")}.${dropped}`;
}

function line({ time, outcome, detail, decided_by }: AuditEntry): string {
  return `${time}  ${outcome.padEnd(7)}  ${safeLine(detail)}${decided_by === undefined ? "" : `  (${safeLine(decided_by)})`}`;
}

function entriesWord(count: number): string {
  return count === 1 ? "entry" : "entries";
}
