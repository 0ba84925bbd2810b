/** Settings of subagents: how many there may be, how long they may work, and the cheaper model. */
import { join } from "node:path";
import { limit, textOrNone, wholeNumber, wholeNumberOrZero } from "../../base/read-value.js";
import { type SettingsOf, setting, shownTime } from "../../feature/setting.js";
import type { Roots } from "../../system/xdg-paths.js";

export const agentSettings = {
  /** 1: only those of the session itself, 0: none. */
  agent_depth: setting({
    about: "how deep subagents may start subagents",
    guide: "subagents",
    fallback: 1,
    read: wholeNumberOrZero,
  }),
  agents_at_once: setting({
    about: "the most subagents that work at the same time",
    guide: "subagents",
    fallback: 4,
    read: wholeNumber,
  }),
  /** With those that they start. */
  agents_per_turn: setting({
    about: "the most subagents in one turn",
    guide: "subagents",
    fallback: 20,
    read: wholeNumber,
  }),
  agent_timeout: setting({
    about: "the time limit of a subagent",
    guide: "subagents",
    read: limit,
    show: shownTime,
  }),
  delegate_model: setting({
    about: "the model of subagents that the model asks to be cheap",
    guide: "subagents",
    read: textOrNone,
  }),
};

export type AgentSettings = SettingsOf<typeof agentSettings>;

/** Returns the folder with the records of worktrees that subagents use. */
export function worktreeRecords({ state }: Pick<Roots, "state">): string {
  return join(state, "worktrees");
}
