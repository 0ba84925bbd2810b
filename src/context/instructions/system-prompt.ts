/** The system prompt. It holds nothing that changes within a session, so that providers can cache it. */

import standing from "../../../assets/prompts/system.md";
import small from "../../../assets/prompts/system-small.md";

export interface PromptFacts {
  readonly workspace: string;
  readonly platform: string;
  /** The name of the shell that runs commands, if the session has one. */
  readonly shell?: string | undefined;
  /** YYYY-MM-DD, taken once when the session opens. */
  readonly date: string;
  /** Sentences that are added to any standing text. */
  readonly notices?: readonly string[];
  /** Replaces the standing text when the user gives their own. */
  readonly override?: string;
  /** The instruction files, delimited. They come before the date, so that sessions of a project share their prefix. */
  readonly instructions?: string | undefined;
  /** Holds what else a session offers: the list of skills. */
  readonly sections?: readonly string[];
  /** `small` for models that cannot follow a long one. */
  readonly size?: "full" | "small";
}

export function systemPrompt(facts: PromptFacts): string {
  const { workspace, platform, shell, date, notices = [], override, instructions, sections = [], size } = facts;
  const own = override ?? (size === "small" ? small : standing);
  const text = [own.trim(), ...notices, ...(instructions === undefined ? [] : [instructions]), ...sections];
  const place = [
    `Workspace: ${workspace}`,
    `Platform: ${platform}`,
    ...(shell === undefined ? [] : [`Shell: ${shell}`]),
    `Date: ${date}`,
  ];
  return `${text.join("\n\n")}\n\n${place.join("\n")}\n`;
}
