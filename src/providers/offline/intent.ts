/** A kind of request that the rules understand: its phrases, and the plan that carries it out. */
import { type Phrase, PhraseBook } from "./phrases.js";
import type { Plan, Toolbox } from "./plan.js";
import type { RequestText } from "./request-text.js";

export interface Match {
  readonly intent: string;
  readonly slots: object;
  plan(tools: Toolbox): Plan;
}

/** The parsed request, or undefined if it is of another kind. */
export type Matcher = (request: RequestText) => Match | undefined;

export interface PhraseIntent<Slots extends object> {
  readonly name: string;
  /** A table for `PhraseBook`. The first phrase that `read` accepts wins. */
  readonly phrases: string;
  read(phrase: Phrase, request: RequestText): Slots | undefined;
  plan(slots: Slots, tools: Toolbox): Plan;
}

export function phraseIntent<Slots extends object>({ name, phrases, read, plan }: PhraseIntent<Slots>): Matcher {
  const book = new PhraseBook(phrases);
  return (request) => {
    for (const phrase of book.matches(request.text)) {
      const slots = read(phrase, request);
      if (slots !== undefined) return { intent: name, slots, plan: (tools) => plan(slots, tools) };
    }
    return undefined;
  };
}
