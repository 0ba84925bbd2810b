/** How long something is: lines, words or characters of a file, lines of all files of a kind. */

import { findFileKind, KIND_WORDS } from "../file-kinds.js";
import type { Intent } from "../intent.js";
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

const UNIT = `(?<unit>lines?|words?|characters?|chars?|letters?)(?: of (?:code|text|source(?: code)?|(?<kind>${KIND_WORDS})(?: code)?))?`;
const HOW_MANY =
  "(?:how many|count|(?:what is |what's )?(?:the )?(?:number|count|total)(?: number)? of)(?: all)?(?: the)?";
const PLACE = "(?<place>.+?)";

function rule(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, "i");
}

const FORMS: readonly RegExp[] = [
  rule(`${HOW_MANY} ${UNIT} (?:does|do|has|have) ${PLACE}(?: (?:have|has|contain|got|hold))?`),
  rule(
    `${HOW_MANY} ${UNIT}(?: (?:are there|are|is|there are|do we have))?(?: (?:in|of|inside|within|across|from) ${PLACE})?`,
  ),
  rule(
    `(?:(?:what is|what's|show|show me|give me|get) )?(?:the )?(?<unit>line|word|character)[- ]?counts? (?:of|for|in) ${PLACE}`,
  ),
  rule(`lines of (?:code|(?<kind>${KIND_WORDS})(?: code)?)(?: (?:in|of) ${PLACE})?`),
  rule(`how (?:long|big|large) (?:is|are) ${PLACE}`),
  rule(`(?:what is |what's )?(?:the )?length of ${PLACE}`),
  rule(`wc -(?<flag>[lwcm]) ${PLACE}`),
];

const LONGEST_FORMS: readonly RegExp[] = [
  rule(
    "(?:which|what) files?(?: (?:in|of|inside|within|under) (?<place>.+?))? (?:has|have|contains?|with) (?:the )?most lines(?: of code)?",
  ),
  rule(
    "(?:(?:find|show|show me|list|tell me|what is|what's|which is|what are|give me) )?(?:the )?(?:longest files?|files? with (?:the )?most lines(?: of code)?)(?: (?:in|of|inside|within|under) (?<place>.+?))?",
  ),
  rule(
    "(?:which|what) (?:files?|of the files) (?:is|are) (?:the )?longest(?: (?:in|of|inside|within|under) (?<place>.+?))?",
  ),
];

const FLAGS: Readonly<Record<string, Unit>> = { l: "lines", w: "words", c: "characters", m: "characters" };

export function parseMeasure(request: RequestText): MeasureSlots | undefined {
  for (const pattern of LONGEST_FORMS) {
    const match = pattern.exec(request.text);
    const scope = match === null ? undefined : parseScope(match.groups?.place ?? "", request);
    if (scope !== undefined) return { unit: "lines", scope, most: true };
  }
  for (const pattern of FORMS) {
    const match = pattern.exec(request.text);
    if (match === null) continue;
    const slots = build(match.groups ?? {}, request);
    if (slots !== undefined) return slots;
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

const NEEDS = /\b(?:lines?|words?|characters?|chars?|letters?|long|longest|big|large|length|wc)\b/i;

export const measureIntent: Intent<MeasureSlots> = {
  name: "measure",
  needs: NEEDS,
  parse: parseMeasure,
  plan: planMeasure,
};
