/** How long something is: lines, words or characters of a file, lines of all files of a kind. */

import { findFileKind, KIND_WORDS } from "../file-kinds.js";
import type { Intent } from "../intent.js";
import phrases from "../phrases/measure.txt";
import { PhraseBook } from "../phrases.js";
import { planMeasure } from "../plans/measure.js";
import type { RequestText } from "../request-text.js";
import { parseScope, type Scope } from "../scope.js";
import { namedFile } from "./read.js";

export type Unit = "lines" | "words" | "characters";

export interface MeasureSlots {
  readonly unit: Unit;
  /** One file, or … */
  readonly file?: string;
  readonly lookUp?: true;
  /** … all files of a place, for lines only. */
  readonly scope?: Scope;
  /** Asked for the file that has most of them. */
  readonly most?: true;
}

const PHRASES = new PhraseBook(phrases, { macros: { KIND_WORDS } });
const FLAGS: Readonly<Record<string, Unit>> = { l: "lines", w: "words", c: "characters", m: "characters" };

export function parseMeasure(request: RequestText): MeasureSlots | undefined {
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    const scope = meaning === "longest" ? parseScope(slots.place ?? "", request) : undefined;
    if (scope !== undefined) return { unit: "lines", scope, most: true };
    const found = meaning === "longest" ? undefined : build(slots, request);
    if (found !== undefined) return found;
  }
  return undefined;
}

function build(groups: Readonly<Record<string, string | undefined>>, request: RequestText): MeasureSlots | undefined {
  const unit = toUnit(groups);
  const place = groups.place?.replace(/^(?:the |this |file )+/i, "").replace(/ file$/i, "") ?? "";
  const file = place === "" ? undefined : namedFile(place, request);
  if (file !== undefined) return { unit, file: file.path, ...(file.lookUp && { lookUp: true as const }) };
  if (
    unit !== "lines" ||
    /^(?:how|what is the length|what's the length|the length|length)\b(?! many)/i.test(request.text)
  )
    return undefined;
  const scope = parseScope(groups.place ?? "", request);
  if (scope === undefined || groups.kind === undefined) return scope === undefined ? undefined : { unit, scope };
  const kind = findFileKind(groups.kind);
  return kind === undefined || scope.kind !== undefined ? undefined : { unit, scope: { ...scope, kind } };
}

function toUnit({ unit, flag }: Readonly<Record<string, string | undefined>>): Unit {
  if (flag !== undefined) return FLAGS[flag.toLowerCase()] ?? "lines";
  if (unit === undefined || /^line/i.test(unit)) return "lines";
  return /^word/i.test(unit) ? "words" : "characters";
}

export const measureIntent: Intent<MeasureSlots> = { name: "measure", parse: parseMeasure, plan: planMeasure };
