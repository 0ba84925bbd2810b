/** Settings of subagents: how many there may be, how long they may work, and the cheaper model. */
import { join } from "node:path";
import { limit, type Setting, type SettingReader, wholeNumber, wholeNumberOrZero } from "../../feature/setting.js";
import type { Roots } from "../../system/xdg-paths.js";

export interface AgentSettings {
  /** How deep subagents may start subagents: 1: only those of the session itself, 0: none. */
  readonly agent_depth: Setting<number>;
  /** The most subagents of a session that work at the same time. */
  readonly agents_at_once: Setting<number>;
  /** The most subagents of a turn, with those that they start. */
  readonly agents_per_turn: Setting<number>;
  /** The time limit of a subagent; undefined for the limit of the turn only. */
  readonly agent_timeout_ms: Setting<number | undefined>;
  /** The model of `agent` with `model: "cheap"`. */
  readonly delegate_model: Setting<string | undefined>;
}

export function readAgentSettings(from: SettingReader): AgentSettings {
  return {
    agent_depth: from.pick({ key: "agent_depth", fallback: 1, read: wholeNumberOrZero }),
    agents_at_once: from.pick({ key: "agents_at_once", fallback: 4, read: wholeNumber }),
    agents_per_turn: from.pick({ key: "agents_per_turn", fallback: 20, read: wholeNumber }),
    agent_timeout_ms: from.pick<number | undefined>({ key: "agent_timeout", fallback: undefined, read: limit }),
    delegate_model: from.pick<string | undefined>({
      key: "delegate_model",
      fallback: undefined,
      read: (text) => text.trim() || undefined,
    }),
  };
}

/** Returns the folder with the records of worktrees that subagents use. */
export function worktreeRecords({ state }: Pick<Roots, "state">): string {
  return join(state, "worktrees");
}
