/** Decides what is loaded, what the user is asked about, and when to stop. Pure. */
import { type Failure, failure } from "../../protocol/errors.js";
import { type ContentItem, labelOf, nameOf, needsProjectFlag, type TrustedItem } from "./content.js";
import type { PendingItem, Review } from "./review.js";
import { shown } from "./shown.js";

export interface DecideOptions {
  readonly review: Review;
  /** A user can see a question and answer it. */
  readonly interactive: boolean;
  /** --skip-unapproved: continue without unapproved content. */
  readonly skipUnapproved: boolean;
  /** Tells whether a program of the project may run once it is approved (`mayRun` of programs-of-project.ts). */
  readonly mayRun: (item: ContentItem) => boolean;
  /** A person may be asked about programs that may not run yet. */
  readonly asksAboutPrograms: boolean;
}

export interface Withheld {
  readonly item: ContentItem;
  readonly why: "project programs are off" | "refused" | "not approved";
}

export interface TrustDecision {
  readonly load: readonly TrustedItem[];
  readonly withheld: readonly Withheld[];
  /** Questions for the user; none of it is loaded yet. */
  readonly ask: readonly PendingItem[];
  /** The run ends with this. */
  readonly refuse?: Failure;
}

export function decideTrust(options: DecideOptions): TrustDecision {
  const { review, interactive, skipUnapproved, mayRun, asksAboutPrograms } = options;
  const isOff = (item: ContentItem) => needsProjectFlag(item) && !mayRun(item);
  const isAsked = interactive && !skipUnapproved && asksAboutPrograms;
  const accepted = [...review.approved, ...[...review.minorChanges, ...review.own].map(({ item }) => item)];
  const open = review.pending.filter(({ item }) => isAsked || !isOff(item));
  const closed = isAsked ? [] : review.pending.map(({ item }) => item);
  const withheld: Withheld[] = [
    ...[...accepted, ...closed].filter(isOff).map((item): Withheld => ({ item, why: "project programs are off" })),
    ...review.refused.map(({ item }): Withheld => ({ item, why: "refused" })),
  ];
  const load = accepted.filter((item): item is TrustedItem => !isOff(item));
  if (open.length === 0) return { load, withheld, ask: [] };
  const unapproved = open.map(({ item }): Withheld => ({ item, why: "not approved" }));
  if (skipUnapproved) return { load, withheld: [...withheld, ...unapproved], ask: [] };
  if (interactive) return { load, withheld, ask: open };
  if (open.every(({ item }) => item.optional)) return { load, withheld: [...withheld, ...unapproved], ask: [] };
  return {
    load: [],
    withheld: [...withheld, ...unapproved],
    ask: [],
    refuse: refusal(open.filter(({ item }) => !item.optional)),
  };
}

const MAX_NAMED = 10;

/** Names the files, new ones and changed ones apart, so that one knows what to look at. */
function refusal(pending: readonly PendingItem[]): Failure {
  const changed = pending.filter(({ state }) => state === "changed");
  const others = pending.filter(({ state }) => state !== "changed");
  const what = [
    ...(others.length === 0 ? [] : [`You have not approved this yet: ${byKind(others)}.`]),
    ...(changed.length === 0 ? [] : [`This changed since you approved it: ${byKind(changed)}.`]),
  ].join(" ");
  const refusal = failure("NonInteractiveAckRefused", { what });
  const advice = "With --skip-unapproved Oxbow runs without them.";
  return { ...refusal, message: `${refusal.message} ${advice}` };
}

function byKind(pending: readonly PendingItem[]): string {
  const items = pending.map(({ item }) => item);
  return [...new Set(items.map(({ kind }) => kind))]
    .map((one) => {
      const names = items.filter((item) => item.kind === one).map((item) => shown(nameOf(item)));
      const rest = names.length - MAX_NAMED;
      return `${labelOf(one)} (${names.slice(0, MAX_NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`;
    })
    .join(", ");
}
