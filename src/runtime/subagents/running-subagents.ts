/** The subagents that work now: who started them and what they do. Clients can follow their sessions. */
import { join } from "node:path";
import type { SubagentSession } from "../../control/hosted-sessions.js";
import type { SessionId } from "../../protocol/ids.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { Place } from "../open-engine.js";
import type { OpenedRun } from "../opening.js";

export interface RunningSubagent extends Pick<OpenedRun, "run"> {
  readonly parent: SessionId;
  readonly type: string;
  readonly description: string;
  /** By the clock of the engine. */
  readonly since: number;
  /** What it does now, in one line. */
  readonly does: () => string;
  readonly tokens: () => number;
}

/** Its run, and where it works. */
export interface OpenedSubagent extends OpenedRun {
  readonly place: Place;
}

/** Lets clients follow it. Returns what to call when its run has been closed. */
export type FollowSubagent = (opened: OpenedSubagent, about: SubagentSession) => () => void;

/** The folder with the records of worktrees that subagents use. */
export function worktreeRecords({ state }: Pick<Roots, "state">): string {
  return join(state, "worktrees");
}

export class RunningSubagents {
  readonly #follow: FollowSubagent;
  readonly #running = new Set<RunningSubagent>();

  constructor(follow: FollowSubagent) {
    this.#follow = follow;
  }

  /** Returns what to call when its run has been closed. */
  add(subagent: RunningSubagent, opened: OpenedSubagent): () => void {
    const { parent, type, description } = subagent;
    this.#running.add(subagent);
    const unfollow = this.#follow(opened, { parent, title: `subagent ${type}: ${description}` });
    return () => {
      this.#running.delete(subagent);
      unfollow();
    };
  }

  /** Those of a session and all below them, the oldest first. */
  of(session: SessionId): readonly RunningSubagent[] {
    return [...this.#running]
      .filter(({ parent }) => parent === session)
      .flatMap((subagent) => [subagent, ...this.of(subagent.run.session)]);
  }
}
