/**
 * Replaces secrets in text by `«redacted:KIND»`; the text around them stays.
 * The triggers only save time: a segment without one has nothing to hide.
 */
import { CONTEXT_PATTERNS } from "./context-patterns.js";
import { findAssignments } from "./find-assignments.js";
import { findKeys } from "./find-keys.js";
import { findTokens } from "./find-tokens.js";
import type { Finding } from "./finding.js";
import { marker } from "./marker.js";
import { segmentEnd } from "./segments.js";
import { findTrigger } from "./triggers.js";

export function redact(text: string): string {
  let out = "";
  let done = 0;
  for (;;) {
    const hit = findTrigger(text, done);
    if (hit === -1) return done === 0 ? text : out + text.slice(done);
    let start = Math.max(done, text.lastIndexOf("\n", hit - 1) + 1);
    let end = endOf(text, start);
    while (end <= hit) {
      start = end;
      end = endOf(text, start);
    }
    out += text.slice(done, start) + redactSegment(text.slice(start, end));
    done = end;
  }
}

function endOf(text: string, start: number): number {
  const end = segmentEnd(text, start);
  return end === -1 ? text.length : end;
}

function redactSegment(segment: string): string {
  const findings = [
    ...findKeys(segment),
    ...findTokens(segment),
    ...CONTEXT_PATTERNS.flatMap((context) => findInContext(segment, context)),
    ...findAssignments(segment),
  ];
  if (findings.length === 0) return segment;
  let out = "";
  let done = 0;
  for (const { start, end, kind } of withoutOverlaps(findings)) {
    out += segment.slice(done, start) + marker(kind);
    done = end;
  }
  return out + segment.slice(done);
}

function findInContext(segment: string, { kind, pattern, accept }: (typeof CONTEXT_PATTERNS)[number]): Finding[] {
  const findings: Finding[] = [];
  for (const match of segment.matchAll(pattern)) {
    const place = match.indices?.groups?.secret;
    const groups = match.groups ?? {};
    if (place !== undefined && accept(groups.secret ?? "", groups))
      findings.push({ start: place[0], end: place[1], kind });
  }
  return findings;
}

/** Findings that overlap become one; the first of the list, the surest, names it. */
function withoutOverlaps(findings: readonly Finding[]): Finding[] {
  const merged: { finding: Finding; rank: number }[] = [];
  const ranked = findings.map((finding, rank) => ({ finding, rank })).sort((a, b) => a.finding.start - b.finding.start);
  for (const next of ranked) {
    const last = merged.at(-1);
    if (last === undefined || next.finding.start >= last.finding.end) merged.push({ ...next });
    else {
      const { kind } = next.rank < last.rank ? next.finding : last.finding;
      last.finding = { start: last.finding.start, end: Math.max(last.finding.end, next.finding.end), kind };
      last.rank = Math.min(last.rank, next.rank);
    }
  }
  return merged.map(({ finding }) => finding);
}
