/** The whole content of a knowledge base as plain data, for export and import. */

export const KINDS = ["note", "finding", "decision", "question", "hypothesis"] as const;
export type ObservationKind = (typeof KINDS)[number];
export const STATUSES = ["active", "paused", "concluded"] as const;
export type ProjectStatus = (typeof STATUSES)[number];

export interface ProjectEntry {
  readonly name: string;
  readonly description: string;
  readonly status: ProjectStatus;
  readonly created_at: string;
  readonly concepts: readonly string[];
}

export interface ConceptEntry {
  readonly name: string;
  readonly description: string;
}

export interface ObservationEntry {
  /** Within the dump: links refer to it. */
  readonly id: number;
  readonly project: string;
  readonly kind: ObservationKind;
  readonly text: string;
  readonly created_at: string;
  /** The session and the event that it came from. */
  readonly session?: string;
  readonly event?: number;
  readonly concepts: readonly string[];
}

export interface LinkEntry {
  readonly from: number;
  readonly to: number;
  readonly relation: string;
}

export interface Dump {
  readonly projects: readonly ProjectEntry[];
  readonly concepts: readonly ConceptEntry[];
  readonly observations: readonly ObservationEntry[];
  readonly links: readonly LinkEntry[];
}

export function isKind(word: string | undefined): word is ObservationKind {
  return KINDS.some((kind) => kind === word);
}

export function isStatus(word: string | undefined): word is ProjectStatus {
  return STATUSES.some((status) => status === word);
}

/** A name or another text of one line. */
export function oneLine(text: string, most = 200): string {
  return cleaned(text).replaceAll(/\s+/g, " ").trim().slice(0, most).trim();
}

/** Line ends in one form, and no characters that text does not have. */
export function cleaned(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029\u0085]/g, "\n")
    .replaceAll(/[\0-\x08\v\f\x0e-\x1f\x7f]/g, "")
    .replace(/^\n+|\s+$/g, "");
}

/** Throws an Error that names the place. */
export function checkedTime(text: string | undefined, where: string): string {
  const time = text === undefined ? Number.NaN : Date.parse(text);
  if (Number.isNaN(time)) throw new Error(`${where}: expected a time, got ${JSON.stringify(text)}`);
  return new Date(time).toISOString();
}
