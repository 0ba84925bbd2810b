/** The system prompt of a session, and the notices that accompany its inputs. */
import { basename } from "node:path";
import { systemPrompt } from "../../context/instructions/system-prompt.js";
import { SUBAGENT_NOTICE } from "../../extensions/subagents/agent-types.js";
import type { InputContent } from "../../protocol/content.js";
import {
  PLAN_MODE_INSTRUCTION,
  PLANNING_SUBAGENT_INSTRUCTION,
} from "../../security/permissions/plan-mode-instruction.js";
import { STANDING_INSTRUCTION } from "../../security/untrusted/standing-instruction.js";
import { findShell } from "../../system/find-program.js";
import { CATALOG } from "../../tools/catalog.js";
import type { SessionParts } from "../open-engine.js";
import { noticeOf, type SessionPart } from "../part.js";
import type { ParentRun } from "../subagents.js";

/** A notice accompanies an input, because the system prompt must not change within a session. */
export function inputNotices(facts: {
  readonly day: () => string;
  /** The day that the model knows. */
  readonly known: string;
  readonly isPlanning: () => boolean;
  readonly isSubagent: boolean;
  /** The branch that is checked out now. */
  readonly branch: () => string | undefined;
  /** Counts how many tracked files differ from git's index; undefined if unknown. */
  readonly changedFiles: () => Promise<number | undefined>;
  /** Instructions that the user approved since the last input. */
  readonly approved: () => readonly string[];
  readonly parts: readonly SessionPart[];
}) {
  let { known } = facts;
  let knownBranch: string | undefined;
  return async (input: readonly InputContent[]) => {
    const ofParts = await noticeOf(facts.parts, input);
    const today = facts.day();
    const branch = facts.branch();
    const notices = [
      ...facts.approved(),
      ...(today === known ? [] : [`The date is now ${today}.`]),
      ...(branch === undefined || branch === knownBranch ? [] : [branchLine(branch, await facts.changedFiles())]),
      ...(facts.isPlanning() ? [facts.isSubagent ? PLANNING_SUBAGENT_INSTRUCTION : PLAN_MODE_INSTRUCTION] : []),
      ...(ofParts === undefined ? [] : [ofParts]),
    ];
    known = today;
    knownBranch = branch;
    return notices.length === 0 ? undefined : notices.join("\n\n");
  };
}

function branchLine(branch: string, changed: number | undefined): string {
  if (changed === undefined) return `Git branch: ${branch}`;
  const files = changed === 1 ? "1 tracked file" : `${changed} tracked files`;
  return `Git branch: ${branch}, ${changed === 0 ? "no unstaged changes" : `unstaged changes in ${files}`}`;
}

/** True with and without a sandbox: it is tested with the first command, after the first request. */
const SANDBOX_NOTICE =
  "Commands run in a sandbox where the machine has one: they change only the workspace and /tmp, reach no network and find no secrets. " +
  "/tmp and localhost last for the session. The `allow` of bash opens the sandbox, after a question to the user.";

interface PromptOrigin {
  /** The day on which the session began. */
  readonly date: string;
  /** The session that started it, if it is a subagent. */
  readonly parent?: ParentRun | undefined;
  /** Parts that may add sections. */
  readonly parts: readonly SessionPart[];
}

/**
 * The prompt of one session. It is made for the first turn, so that it contains what the user approves before; then its bytes never
 * change. Instructions that are approved later come with the next input, and again after a compaction.
 */
export class SessionPrompt {
  readonly #parts: Pick<SessionParts, "loaded" | "root" | "content">;
  readonly #facts: PromptOrigin;
  #made: { readonly full: string; readonly small: string; readonly contains: number } | undefined;
  #shownCount = 0;
  #forgotten = 0;

  constructor(parts: Pick<SessionParts, "loaded" | "root" | "content">, facts: PromptOrigin) {
    this.#parts = parts;
    this.#facts = facts;
  }

  text(size: "full" | "small"): string {
    return this.#make()[size];
  }

  takeApproved(): readonly string[] {
    const { contains } = this.#make();
    const { added = [], forgotten = 0 } = this.#parts.content ?? {};
    const from = forgotten === this.#forgotten ? Math.max(contains, this.#shownCount) : contains;
    this.#shownCount = added.length;
    this.#forgotten = forgotten;
    return added.slice(from);
  }

  #make() {
    this.#made ??= {
      full: promptOf(this.#parts, { ...this.#facts, size: "full" }),
      small: promptOf(this.#parts, { ...this.#facts, size: "small" }),
      contains: this.#parts.content?.added.length ?? 0,
    };
    return this.#made;
  }
}

/** Made once: its bytes must not change within a session, even when it is resumed on another day. */
function promptOf(
  { loaded, root, content }: Pick<SessionParts, "loaded" | "root" | "content">,
  { date, size, parent, parts }: PromptOrigin & { readonly size: "full" | "small" },
): string {
  const override = parent?.prompt ?? loaded.settings.system_prompt.value;
  const instructions = content?.instructions;
  const { tool_sets, untrusted_results, sandbox } = loaded.settings;
  const runsCommands = tool_sets.value.offers(CATALOG.bash.name, CATALOG.bash.set);
  const wraps = untrusted_results.value === "wrap" && !tool_sets.value.isEmpty;
  const hasOutside =
    instructions !== undefined || wraps || tool_sets.value.offers(CATALOG.web_fetch.name, CATALOG.web_fetch.set);
  return systemPrompt({
    workspace: root,
    platform: process.platform,
    shell: runsCommands ? shellName(root) : undefined,
    date,
    notices: [
      ...(parent === undefined ? [] : [SUBAGENT_NOTICE]),
      ...(runsCommands && sandbox.value !== "off" ? [SANDBOX_NOTICE] : []),
      ...(hasOutside ? [STANDING_INSTRUCTION] : []),
      ...headerOf(loaded),
    ],
    instructions,
    sections: parts.flatMap((part) => part.promptSection?.(size) ?? []),
    size,
    ...(override !== undefined && { override }),
  });
}

function shellName(root: string): string | undefined {
  try {
    return basename(findShell(undefined, { outside: root }));
  } catch {
    // The first command says that there is none.
    return undefined;
  }
}

function headerOf({ settings: { prompt_header } }: SessionParts["loaded"]): readonly string[] {
  return prompt_header.value === undefined ? [] : [prompt_header.value];
}
