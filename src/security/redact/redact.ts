/**
 * Replaces secrets in text by `«redacted:KIND»`; the text around them stays.
 * The triggers only save time: a segment without one has nothing to hide.
 */
import { findOwnSecret } from "../../system/own-secrets.js";
import { CONTEXT_PATTERNS } from "./context-patterns.js";
import { findAssignments } from "./find-assignments.js";
import { findKeys } from "./find-keys.js";
import { findTokens } from "./find-tokens.js";
import type { Finding } from "./finding.js";
import { marker } from "./marker.js";
import { segmentEnd } from "./segments.js";
import { findTrigger } from "./triggers.js";

export function redact(text: string): string {
  return redactedPieces(text)
    .map((piece) => piece.text)
    .join("");
}

/** A part of a text after its redaction: a stretch without a secret, or the marker of one. */
export interface RedactedPiece {
  readonly text: string;
  /** The number of characters that it stands for. */
  readonly length: number;
  readonly isMarker: boolean;
}

/** The text in pieces that together stand for all of it. */
export function redactedPieces(text: string): RedactedPiece[] {
  const pieces: RedactedPiece[] = [];
  let done = 0;
  let from = 0;
  let trigger = findTrigger(text, 0);
  let own = ownAt(text, 0);
  for (;;) {
    if (trigger < done) trigger = findTrigger(text, done);
    if (own < done) own = ownAt(text, done);
    const hit = Math.min(trigger, own);
    if (hit === Number.POSITIVE_INFINITY) break;
    let start = Math.max(done, text.lastIndexOf("\n", hit - 1) + 1);
    let end = endOf(text, start);
    while (end <= hit) {
      start = end;
      end = endOf(text, start);
    }
    for (const secret of secretsIn(text.slice(start, end))) {
      if (start + secret.start > from) pieces.push(plain(text.slice(from, start + secret.start)));
      pieces.push({ text: marker(secret.kind), length: secret.end - secret.start, isMarker: true });
      from = start + secret.end;
    }
    done = end;
  }
  if (from < text.length) pieces.push(plain(text.slice(from)));
  return pieces;
}

/** A piece without a secret. */
export function plain(text: string): RedactedPiece {
  return { text, length: text.length, isMarker: false };
}

function endOf(text: string, start: number): number {
  const end = segmentEnd(text, start);
  return end === -1 ? text.length : end;
}

function secretsIn(segment: string): readonly Finding[] {
  return withoutOverlaps([
    ...findKeys(segment),
    ...findTokens(segment),
    ...CONTEXT_PATTERNS.flatMap((context) => findInContext(segment, context)),
    ...findAssignments(segment),
    ...findOwn(segment),
  ]);
}

/** Infinity if there is none. */
function ownAt(text: string, from: number): number {
  return findOwnSecret(text, from)?.start ?? Number.POSITIVE_INFINITY;
}

function findOwn(segment: string): Finding[] {
  const findings: Finding[] = [];
  for (let found = findOwnSecret(segment, 0); found !== undefined; found = findOwnSecret(segment, found.end))
    findings.push({ ...found, kind: "own-key" });
  return findings;
}

function findInContext(segment: string, { kind, pattern, accept }: (typeof CONTEXT_PATTERNS)[number]): Finding[] {
  const findings: Finding[] = [];
  // Not `matchAll`, which copies the pattern: for a text of short lines that takes longer than the rest.
  pattern.lastIndex = 0;
  for (let match = pattern.exec(segment); match !== null; match = pattern.exec(segment)) {
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
