/** A kind of request that the rules understand: its phrases, and the plan that carries it out. */
import type { JsonObject } from "../../protocol/json.js";
import { type FileText, parseFileText, parsePaths } from "./outputs.js";
import { call, documentGlob, globCall, type Plan, readCall, type Steps, type Toolbox, type ToolFact } from "./plan.js";
import type { RequestText } from "./request-text.js";
import { type Phrase, phraseBook } from "./tables.js";
import type { NamedFile } from "./terms.js";
import { code, fenced, paragraphs } from "./wording.js";

export interface Match {
  readonly intent: string;
  readonly slots: object;
  plan(tools: Toolbox): Plan;
}

/** Parses the request, or returns nothing if it is of another kind. */
export type Matcher = (request: RequestText) => Match | undefined;

export interface PhraseIntent<Slots extends object> {
  readonly name: string;
  /** A table for `phraseBook`. The first phrase that `read` accepts wins. */
  readonly phrases: string;
  read(phrase: Phrase, request: RequestText): Slots | undefined;
  plan(slots: Slots, tools: Toolbox): Plan;
}

export function phraseIntent<Slots extends object>({ name, phrases, read, plan }: PhraseIntent<Slots>): Matcher {
  const matches = phraseBook(phrases);
  return (request) => {
    for (const phrase of matches(request.text)) {
      const slots = read(phrase, request);
      if (slots !== undefined) return { intent: name, slots, plan: (tools) => plan(slots, tools) };
    }
    return undefined;
  };
}

export interface NamedText extends FileText {
  readonly path: string;
}

/** Reads a file, or returns an answer that explains why there is no text. `failed` answers for a failed call. */
export function* readText(
  { path: named, lookUp }: NamedFile,
  part: JsonObject = {},
  failed: (fact: ToolFact) => Plan = (fact) => unreadable(named, fact),
): Steps<NamedText | string> {
  const path = lookUp ? yield* lookUpDocument(named) : named;
  if (path === undefined) return `There is no ${named.toUpperCase()} file in this project.`;
  const fact = yield* call(readCall(path, part));
  if (fact.failed) return yield* failed(fact);
  const text = parseFileText(fact.text);
  return text.notText === undefined ? { ...text, path } : `${code(path)} is not text: ${text.notText}`;
}

/** Finds the file nearest to the top, text files first, then by name; nothing if there is none. */
function* lookUpDocument(name: string): Steps<string | undefined> {
  const { paths } = parsePaths((yield* call(globCall(documentGlob(name)))).text);
  const rank = (path: string): number =>
    path.split("/").length * 2 + (/(?:\.md|\.txt|\.rst|\/[^./]+|^[^./]+)$/i.test(path) ? 0 : 1);
  return [...paths].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))[0];
}

export function* unreadable(path: string, fact: ToolFact): Plan {
  yield* [];
  return paragraphs(`${code(path)} could not be read:`, fenced(fact.text.trim()));
}
