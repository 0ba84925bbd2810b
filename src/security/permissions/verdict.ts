/** Describes what was decided about a call, and by what. */
import type { Opening } from "./contained/needs.js";
import type { Decision } from "./facts.js";
import type { PermissionRule } from "./rule.js";
import type { SessionRuleDraft } from "./session-rules.js";

/** Describes which of the laws in `decide.ts` decided; `hook`: a hook or another extension did. */
export type Law =
  | "mode deny"
  | "plan mode"
  | "boundary"
  | "no sandbox"
  | "blocklist"
  | "safe mode"
  | "path permission"
  | "guarded"
  | "rule"
  | "mode allow"
  | "session"
  | "quiet preset"
  | "mode review"
  | "contained edit"
  | "contained command"
  | "auto-approve"
  | "default"
  | "hook";

export interface Verdict {
  readonly decision: Decision;
  /** Short, for the log: `mode deny`, `rule 3 of config.toml`, `session rule 2`, `quiet preset`. */
  readonly decidedBy: string;
  readonly law: Law;
  /** One or two sentences for the user or the model. */
  readonly reason: string;
  readonly rule?: PermissionRule;
  /** The command or path that decided, when the call has several. */
  readonly about?: string;
  /** Guarded paths that a yes, or this allow, lets change: absolute. */
  readonly guarded?: readonly string[];
  /** Holds what the sandbox is opened for when the call runs. */
  readonly openings?: readonly Opening[];
  /** For a question: a yes lets nothing out of the workspace and its sandbox. */
  readonly contained?: true;
  /** For a question: the call needs more than the sandbox of mode `auto` gives, as the reason says. */
  readonly beyond?: true;
  /** For a question: it comes back every time, whatever the answer. */
  readonly once?: true;
  /** For a question: what "this pattern for the session" would allow. Empty when the question comes back every time. */
  readonly offer?: readonly SessionRuleDraft[];
  /** For a question of your own rule, or one that comes back every time: what `--allow` would let through. */
  readonly byFlag?: readonly SessionRuleDraft[];
}
