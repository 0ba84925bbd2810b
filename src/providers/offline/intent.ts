/** A kind of request that the rules understand: how it is recognised, and how it is carried out. */
import type { Plan, Toolbox } from "./plan.js";
import type { RequestText } from "./request-text.js";

export interface Intent<Slots extends object> {
  readonly name: string;
  /** What the request says, or nothing when it is not of this kind. */
  parse(request: RequestText): Slots | undefined;
  plan(slots: Slots, tools: Toolbox): Plan;
}

export interface Match {
  readonly intent: string;
  readonly slots: object;
  plan(tools: Toolbox): Plan;
}

export type Matcher = (request: RequestText) => Match | undefined;

export function matcher<Slots extends object>(intent: Intent<Slots>): Matcher {
  return (request) => {
    const slots = intent.parse(request);
    if (slots === undefined) return undefined;
    return { intent: intent.name, slots, plan: (tools) => intent.plan(slots, tools) };
  };
}
