/** What one `oxbow session …` action is. */
import type { Flag, ParsedFlags } from "../../../commands/flags.js";
import type { OpenSessions } from "./open-sessions.js";

export interface SessionAction {
  /** Those of its own; `--json`, `--store`, `--cwd` and `--help` are everybody's. */
  readonly flags: readonly Flag[];
  run(flags: ParsedFlags, sessions: OpenSessions): Promise<number>;
}
