/** A kind of request that the rules understand: how it is recognised, and how it is carried out. */
import type { Plan, Toolbox } from "./plan.js";
import type { RequestText } from "./request-text.js";

export interface Intent<Slots extends object> {
  readonly name: string;
  /** Without one of these words no form of it can match: one look spares compiling all of them. */
  readonly needs?: RegExp;
  /** What the request says, or nothing when it is not of this kind. */
  parse(request: RequestText): Slots | undefined;
  plan(slots: Slots, tools: Toolbox): Plan;
}

export interface Match {
  readonly intent: string;
  readonly slots: object;
  plan(tools: Toolbox): Plan;
}

/** Forms that have a word in common. */
export interface FormGroup<Form> {
  /** Without one of these words none of the forms can match: one look spares compiling them. */
  readonly needs: RegExp;
  readonly forms: readonly Form[];
}

export function possibleForms<Form>(groups: readonly FormGroup<Form>[], text: string): readonly Form[] {
  return groups.filter(({ needs }) => needs.test(text)).flatMap(({ forms }) => forms);
}

export type Matcher = (request: RequestText) => Match | undefined;

export function matcher<Slots extends object>(intent: Intent<Slots>): Matcher {
  return (request) => {
    if (intent.needs?.test(request.text) === false) return undefined;
    const slots = intent.parse(request);
    if (slots === undefined) return undefined;
    return { intent: intent.name, slots, plan: (tools) => intent.plan(slots, tools) };
  };
}
