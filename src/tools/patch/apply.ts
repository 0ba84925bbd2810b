/**
 * The hunks of a patch applied to one text.
 *
 * 1. All hunks are placed in the original text. They keep their order; another order is possible only if each hunk fits exactly one
 *    place.
 * 2. Exact matches are preferred; otherwise lines with the same fingerprint are merged, as in the edit tool.
 * 3. If the hunks fit in more than one way, or not at all, nothing is applied.
 * 4. The result ends with a newline, as the format knows only whole lines.
 */

import { ChangeError } from "../edit/change-error.js";
import { applySplices, newlineOf, type Splice, unixNewlines } from "../edit/splice.js";
import type { Hunk } from "./changes.js";
import { nameOf, type Place, Target } from "./target.js";

/** Throws a ChangeError that names the hunk, what it expected and what the file has. */
export function applyHunks(original: string, hunks: readonly Hunk[]): string {
  const text = original === "" || /[\n\r]$/.test(original) ? original : original + newlineOf(original);
  const target = new Target(unixNewlines(text));
  const isAppended = (hunk: Hunk) => hunk.lines.every((line) => line.kind === "add");
  const quoting = hunks.filter((hunk) => !isAppended(hunk));
  const placed = choose(
    quoting.map((hunk) => ({ hunk, places: target.places(hunk) })),
    target,
  );
  const splices = placed.flatMap((place) => place.splices());
  splices.sort((a, b) => a.start - b.start || a.end - b.end);
  refuseOverlap(splices, target);
  const appended = hunks.filter(isAppended).map((hunk) => appendix(hunk, text.length));
  return applySplices(text, [...splices, ...appended]);
}

function refuseOverlap(splices: readonly Splice[], target: Target): void {
  splices.forEach((splice, i) => {
    const before = splices[i - 1];
    if (before === undefined || splice.start >= before.end) return;
    throw new ChangeError(`Two changes of the patch overlap at line ${target.line(splice.start)}. Make them one.`);
  });
}

interface Candidates {
  readonly hunk: Hunk;
  readonly places: readonly Place[];
}

/** One place for each hunk, in order. There must be exactly one solution. */
function choose(candidates: readonly Candidates[], target: Target): readonly Place[] {
  const earliest = inOrder(candidates);
  if (earliest === undefined) return separate(candidates, target);
  const latest = inOrder(candidates.toReversed(), "backwards")?.toReversed();
  candidates.forEach(({ hunk, places }, i) => {
    if (earliest[i] === latest?.[i]) return;
    const lines = target.lines(places);
    throw new ChangeError(
      `${nameOf(hunk)}: its lines occur ${places.length} times, at lines ${lines}. ` +
        "Add lines around the change, or an '@@' line that names what comes before it.",
    );
  });
  return earliest;
}

function inOrder(candidates: readonly Candidates[], direction?: "backwards"): readonly Place[] | undefined {
  const chosen: Place[] = [];
  for (const { places } of candidates) {
    const last = chosen.at(-1);
    const place =
      direction === undefined
        ? places.find((each) => last === undefined || each.from >= last.to)
        : places.findLast((each) => last === undefined || each.to <= last.from);
    if (place === undefined) return undefined;
    chosen.push(place);
  }
  return chosen;
}

function separate(candidates: readonly Candidates[], target: Target): readonly Place[] {
  const places = candidates.map(({ hunk, places: [place, ...others] }) => {
    if (place !== undefined && others.length === 0) return { hunk, place };
    throw new ChangeError(
      `${nameOf(hunk)}: its lines are not where the changes before and after it leave room for them.`,
    );
  });
  places.sort((a, b) => a.place.from - b.place.from);
  places.forEach(({ hunk, place }, i) => {
    const before = places[i - 1];
    if (before === undefined || place.from >= before.place.to) return;
    const other = before.hunk.patchLine;
    throw new ChangeError(
      `${nameOf(hunk)}: it changes line ${target.line(place.from)}, which the change at line ${other} of the patch changes too.`,
    );
  });
  return places.map(({ place }) => place);
}

/** Lines that are only added go to the end of the file. */
function appendix(hunk: Hunk, end: number): Splice {
  if (hunk.headers.length > 0) {
    throw new ChangeError(
      `${nameOf(hunk)}: it only adds lines, and where is not clear. Give the line before them with a space in front.`,
    );
  }
  return { start: end, end, text: hunk.lines.map((line) => `${line.text}\n`).join("") };
}
