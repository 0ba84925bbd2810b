/** The measured abilities of a model, and their consequences. */
export const ABILITIES = [
  "answer",
  "tool_call",
  "parallel_calls",
  "tool_result",
  "string_replace",
  "patch",
  "json_schema",
  "context",
  "images",
] as const;
export type Ability = (typeof ABILITIES)[number];

export interface Finding {
  readonly ability: Ability;
  /** Absent when it was not measured. */
  readonly able?: boolean;
  /** One line: the actual answer, how far it got, or why it was not measured. */
  readonly detail: string;
  readonly elapsed_ms: number;
  /** For `context`: the largest size, in tokens, that was read to its beginning. */
  readonly tokens?: number;
}

export interface AbilityReport {
  readonly provider: string;
  readonly model: string;
  /** The digest of the model's file, if there is one: another file under the same name is another model. */
  readonly digest?: string;
  /** ISO date and time. */
  readonly measured_at: string;
  readonly findings: readonly Finding[];
}

/** Describes what a model is offered. */
export interface ModelFit {
  readonly prompt: "full" | "small";
  /** Tools that the model does not get. */
  readonly without: readonly string[];
}

/** Less context than this is used up by a few files. */
const COMFORTABLE_TOKENS = 12_000;

/**
 * Finds what a model gets: everything except for abilities that it lacks. An ability that was not measured counts as present. `expendable`
 * are the tools that the others can replace; fewer choices cause fewer mistakes.
 */
export function fitOf({ findings }: Pick<AbilityReport, "findings">, expendable: readonly string[]): ModelFit {
  const finding = (ability: Ability) => findings.find((candidate) => candidate.ability === ability);
  const lacks = (ability: Ability) => finding(ability)?.able === false;
  const context = finding("context");
  const isShort = context?.able === false && (context.tokens ?? 0) < COMFORTABLE_TOKENS;
  const cannotEdit = lacks("string_replace") && lacks("patch");
  const isWeak = lacks("answer") || lacks("tool_call") || lacks("tool_result") || cannotEdit || isShort;
  const format = lacks("patch") ? ["apply_patch"] : lacks("string_replace") ? ["edit"] : [];
  return isWeak ? { prompt: "small", without: [...expendable, ...format] } : { prompt: "full", without: format };
}
