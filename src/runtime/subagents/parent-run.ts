/** What a subagent's session gets from its parent session. */
import type { ExtensionFiles } from "../../base/extension-files.js";
import type { PermissionPrompts } from "../../control/permission-prompts.js";
import type { Effort } from "../../engine/ports.js";
import type { TurnCount } from "../../extensions/subagents/limits.js";
import type { EventPayloads, SubagentName } from "../../protocol/events.js";
import type { TurnId } from "../../protocol/ids.js";
import type { NewSession } from "../../sessions/store.js";
import type { RunCosts } from "../parts/costs.js";
import type { HookVariables } from "../parts/hook-variables.js";
import type { RunPermissions } from "../parts/permissions.js";
import type { RunSandbox } from "../parts/sandbox.js";
import type { RunUndo } from "../parts/undo.js";

export interface ParentRun {
  /** The subagent as its parent's events name it. */
  readonly name: Omit<SubagentName, "session">;
  readonly link: NonNullable<NewSession["parent"]>;
  readonly turn: TurnId;
  /** 1 for a subagent of a session that is not a subagent. */
  readonly depth: number;
  /** Its permissions are the limit of the subagent's, at any time. */
  readonly permissions: RunPermissions;
  /** Its budgets pay for the subagent. */
  readonly costs: RunCosts;
  /** Called with each cost of the subagent and of those below it. */
  readonly paid: (cost: EventPayloads["CostIncremented"]) => void;
  /** Records the changes with those of the parent's turn; absent for a subagent with its own workspace. */
  readonly undo?: RunUndo;
  /** Its long outputs go there too: either may name the files of the other. */
  readonly outputDirectory: string;
  /** Its commands and those of the subagent share `/tmp` and localhost. */
  readonly sandbox: Pick<RunSandbox, "space">;
  /** What hooks of the parent's start added for commands. */
  readonly hookVariables: HookVariables;
  /** The approved files that the parent uses. */
  readonly extensions: ExtensionFiles;
  /** The parent's questions: its clients answer those of the subagent. */
  readonly prompts: PermissionPrompts;
  readonly mayUse: (tool: string) => boolean;
  /** Types that it may start itself; undefined for all. */
  readonly agents?: readonly string[];
  /** Its system prompt; undefined: the default one. */
  readonly prompt?: string;
  /** The file that defines its type; undefined for a built-in one. */
  readonly agentFile?: string;
  readonly effort?: Effort;
  readonly maxIterations?: number;
  readonly timeoutMs?: number;
  readonly onlyReads: boolean;
  readonly count: TurnCount;
  /** It works for a hook, which must not start another one like it. */
  readonly isOfHook?: true;
}
