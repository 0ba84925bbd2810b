/** `/undo`: shows what it would undo, and undoes the files or hunks that the user accepts. */

import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { readSlashAnswer } from "../../../protocol/slash-command.js";
import { parseHunks } from "../../sdk/shown/hunks.js";
import { type ReviewCounts, type ReviewFile, type ReviewStop, reviewDialog } from "../dialogs/review.js";
import type { Carrier, CarrierOptions } from "./carrier.js";
import { reviewTools, withTexts } from "./review-files.js";

/** Arguments that only name a turn; with others, the engine answers in text. */
const REVIEWED = /^(?:redo|\d{1,9})?$/i;

/** False if the engine must answer in text. */
export async function reviewUndo(args: string, carrier: Carrier, options: CarrierOptions): Promise<boolean> {
  const which = args.trim();
  if (!REVIEWED.test(which)) return false;
  const reply = await carrier.slash("undo", `${which} --dry-run`);
  const plan = reply.ok ? readSlashAnswer(reply.value).value : undefined;
  if (!isJsonObject(plan)) return false;
  const files = await withTexts(undoFiles(plan), { ...options, folder: options.state().place?.cwd });
  // With nothing to decide on, the text of the engine says why.
  if (files.every(({ fixed }) => fixed)) return false;
  const { title, chosen } = wordsOf(plan, which);
  const dialog = reviewDialog({ title, files, unit: "hunk", end: endWords(plan), ...(await reviewTools(options)) });
  options.open(dialog, (result) => {
    const accepted = result?.kind === "decided" ? chosenFiles(result.accepted, files) : [];
    if (accepted.length === 0) options.print({ kind: "notice", level: "info", text: "Nothing was undone." });
    else void undo({ accepted, plan, chosen }, carrier, options);
  });
  return true;
}

export function endWords({ redo }: JsonObject): (counts: ReviewCounts) => string {
  return ({ accepted, all }) =>
    accepted === 0
      ? "goes back, nothing is accepted"
      : `${redo === true ? "redoes" : "undoes"} ${accepted} of ${all} ${all === 1 ? "change" : "changes"}`;
}

function wordsOf({ redo, turns }: JsonObject, which: string): { readonly title: string; readonly chosen: string } {
  const [turn] = Array.isArray(turns) ? turns : [];
  const number = isJsonObject(turn) && typeof turn.number === "number" ? String(turn.number) : undefined;
  const title = `${redo === true ? "Redo" : "Undo"} of ${number === undefined ? "the last turn" : `turn ${number}`}`;
  // Undoes exactly the turn that was shown, whatever happened since.
  return { title, chosen: redo === true ? "redo" : (number ?? which) };
}

/** Undoes the chosen changes; false after a message. `chosen` names the turns. */
export async function undo(
  {
    accepted,
    plan,
    chosen,
  }: { readonly accepted: readonly ChosenFile[]; readonly plan: JsonObject; readonly chosen: string },
  carrier: Carrier,
  { print, update }: CarrierOptions,
): Promise<boolean> {
  const guarded = stringsOf(plan.guarded).some((path) => accepted.some((file) => file.path === path));
  const only = accepted
    .map(({ path, hunks }) => (hunks === undefined ? `--only=${path}` : `--hunks=${path}=${hunks.join(",")}`))
    .map(quoted);
  const reply = only.includes(undefined)
    ? undefined
    : await carrier.slash("undo", [chosen, "yes", ...(guarded ? ["guarded"] : []), ...only].join(" "));
  if (reply === undefined) {
    print({
      kind: "notice",
      level: "error",
      text: "You cannot choose a single file whose name has both quotation marks. /undo yes undoes all.",
    });
  } else if (reply.ok) print({ kind: "command", line: "/undo", text: readSlashAnswer(reply.value).text });
  else print({ kind: "notice", level: "error", text: reply.failure.message });
  update((now) => now);
  return reply?.ok === true;
}

/** A file, and which of its changes. */
export interface ChosenFile {
  readonly path: string;
  /** Counted from 1; absent for the whole file. */
  readonly hunks?: readonly number[];
}

export function chosenFiles(stops: readonly ReviewStop[], files: readonly ReviewFile[]): readonly ChosenFile[] {
  return files.flatMap(({ path, hunks }, index): readonly ChosenFile[] => {
    const mine = stops.filter(({ file }) => file === index);
    if (mine.length === 0) return [];
    const chosen = mine.flatMap(({ hunk }) => (hunk === undefined ? [] : [hunk + 1]));
    return chosen.length === 0 || chosen.length === hunks.length ? [{ path }] : [{ path, hunks: chosen }];
  });
}

/** One word of a command line; undefined if no quotation mark works. */
function quoted(word: string): string | undefined {
  if (!/[\s"']/.test(word)) return word;
  if (!word.includes('"')) return `"${word}"`;
  return word.includes("'") ? undefined : `'${word}'`;
}

export function undoFiles(plan: JsonObject): readonly ReviewFile[] {
  const guarded = stringsOf(plan.guarded);
  const items = Array.isArray(plan.items) ? plan.items.filter(isJsonObject) : [];
  return items.filter(({ follows }) => follows !== true).map((item) => fileOf(item, guarded));
}

function fileOf(item: JsonObject, guarded: readonly string[]): ReviewFile {
  const { state, reason, added, removed, diff } = item;
  const path = String(item.path);
  const isReady = state === "ready";
  const counts = typeof added === "number" && typeof removed === "number" ? `, +${added} -${removed}` : "";
  const { hunks, notes } = parseHunks(typeof diff === "string" ? diff : "");
  const why = isReady ? [] : [`Cannot be undone: ${String(reason ?? "")}`];
  const guard = guarded.includes(path) ? ["Guarded: other programs run or obey this file."] : [];
  const empty = isReady && hunks.length === 0 ? ["There is no text to show."] : [];
  return {
    path,
    what: `${String(item.action)}${item.kind === "file" ? "" : ` ${String(item.kind)}`}${counts}`,
    notes: [...why, ...guard, ...notes, ...empty],
    hunks,
    // Hunks can be chosen only if the file exists before and after, and the diff shows all of its changes.
    ...((item.action !== "restore" || item.kind !== "file" || notes.some((note) => note.startsWith("… "))) && {
      whole: true as const,
    }),
    ...(!isReady && { fixed: true as const }),
  };
}

function stringsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
