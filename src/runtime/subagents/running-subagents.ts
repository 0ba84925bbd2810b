/** The subagents that work now: who started them and what they do. Clients can follow their sessions. */
import type { Host } from "../../control/host.js";
import type { Run } from "../../control/run.js";
import type { SessionId } from "../../protocol/ids.js";

export interface RunningSubagent {
  readonly run: Run;
  readonly parent: SessionId;
  readonly type: string;
  readonly description: string;
  /** By the clock of the engine. */
  readonly since: number;
  /** What it does now, in one line. */
  readonly does: () => string;
  readonly tokens: () => number;
}

export class RunningSubagents {
  readonly #host: () => Pick<Host, "follow">;
  readonly #running = new Set<RunningSubagent>();

  constructor(host: () => Pick<Host, "follow">) {
    this.#host = host;
  }

  /** Returns what to call when its run has been closed. */
  add(subagent: RunningSubagent): () => void {
    const { run, parent, type, description } = subagent;
    this.#running.add(subagent);
    const unfollow = this.#host().follow(run, { parent, title: `subagent ${type}: ${description}` });
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
