/** `/permissions`, `/plan`, `/why` and `/security`, and `oxbow permissions`. */

import {
  type Command,
  type CommandOf,
  type CommandResult,
  EVERYONE,
  EVERYWHERE,
  IN_SESSION,
  READERS,
  refuse,
  type Subject,
  withPort,
} from "../../feature/command.js";
import type { InputContent } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonValue } from "../../protocol/json.js";
import type { AuditRing } from "../audit/audit-ring.js";
import { PERMISSION_FLAGS, subject as safeMode } from "../safe-mode/commands.js";
import type { SafeModeState } from "../safe-mode/safe-mode.js";
import type { SandboxState } from "../sandbox/state.js";
import type { CommandText, PermissionsState } from "./command-texts.js";
import type { PermissionPolicy } from "./decide.js";
import type { DecidedCall } from "./engine.js";
import type { FactsOfCall } from "./replay-decisions.js";
import type { StateFile } from "./state-file.js";

/** The exit code of `oxbow permissions test` gives a script the decision. */
const EXIT_CODES = { allow: 0, ask: 4, deny: 1 } as const;

const texts = () => import("./command-texts.js");

const RULES: readonly CommandOf<PermissionsState>[] = [
  {
    name: "permissions:list",
    aliases: ["permissions"],
    summary: "show the mode, rules, session rules and path permissions (the default)",
    shellFlags: PERMISSION_FLAGS,
    reaches: "session",
    users: READERS,
    places: EVERYWHERE,
    run: async (_args, state) => answer((await texts()).listPermissions(state)),
  },
  {
    name: "permissions:test",
    summary: "show the decision about a shell command, and the reason",
    arguments: [{ name: "COMMAND", kind: "text", rest: "text" }],
    shellFlags: PERMISSION_FLAGS,
    reaches: "session",
    users: READERS,
    places: EVERYWHERE,
    run: async (args, state) => {
      const result = answer(await (await texts()).testCommand(args.text("COMMAND") ?? "", state));
      if ("failure" in result) return result;
      const { decision } = result.value as { readonly decision: keyof typeof EXIT_CODES };
      return { ...result, exitCode: EXIT_CODES[decision] };
    },
  },
  {
    name: "permissions:set",
    summary: "set the permissions below PATH: letters of rwxd, or none",
    arguments: [
      { name: "PATH", kind: "path", rest: "text", complete: "file" },
      { name: "PERMS", kind: "text", complete: ["r", "rw", "rwx", "rwxd", "none"] },
    ],
    shellFlags: PERMISSION_FLAGS,
    places: EVERYWHERE,
    run: async (args, state) => {
      const [path = "", access = ""] = [args.text("PATH"), args.text("PERMS")];
      return answer(await (await texts()).setPath({ path, access }, state));
    },
  },
  {
    name: "permissions:reset",
    summary: "remove one path permission, or all",
    arguments: [{ name: "PATH", kind: "path", rest: "text", optional: true, complete: "file" }],
    shellFlags: PERMISSION_FLAGS,
    places: EVERYWHERE,
    run: async (args, state) => answer(await (await texts()).resetPath(args.text("PATH"), state)),
  },
  {
    name: "permissions:revoke",
    summary: "remove a rule of this session, or all",
    arguments: [{ name: "N", kind: "text", complete: ["all"] }],
    reaches: "session",
    places: IN_SESSION,
    run: async (args, { session }) => answer((await texts()).revoke(args.text("N") ?? "", session)),
  },
  {
    name: "permissions:promote",
    summary: "keep a rule of this session: for you everywhere, or for you in this project",
    arguments: [
      { name: "N", kind: "text" },
      { name: "WHERE", kind: "text", optional: true },
    ],
    places: IN_SESSION,
    run: async (args, state) => {
      const wanted = { which: args.text("N") ?? "", where: args.text("WHERE") };
      return answer(await (await texts()).promote(wanted, state));
    },
  },
];

export function permissionCommands(state: () => Promise<PermissionsState>): readonly Command[] {
  return withPort(RULES, state);
}

/** Finds a stored session for the replay of its decisions. */
export interface ReplayPort {
  /** Undefined if sessions are not stored. Throws a UsageError for a name that stands for none, or for several. */
  events(session: string): Promise<AsyncIterable<Envelope> | Iterable<Envelope> | undefined>;
  rules(): Promise<{ readonly policy: PermissionPolicy; readonly factsOf: FactsOfCall }>;
}

const REPLAY: CommandOf<ReplayPort> = {
  name: "permissions:replay",
  summary: "show what today's rules would decide about the calls of a session",
  arguments: [{ name: "SESSION", kind: "text", complete: "session" }],
  shellFlags: PERMISSION_FLAGS,
  users: READERS,
  places: EVERYWHERE,
  run: async (args, port) => {
    const [{ replayDecisions, replayText }, { safeText }, { UsageError }] = await Promise.all([
      import("./replay-decisions.js"),
      import("../../base/terminal-text.js"),
      import("../../base/usage-error.js"),
    ]);
    try {
      const events = await port.events(args.text("SESSION") ?? "");
      if (events === undefined) return refuse("Sessions are not stored here.");
      const { policy, factsOf } = await port.rules();
      const replayed = await replayDecisions(events, policy, factsOf);
      return { text: safeText(replayText(replayed)), value: JSON.parse(JSON.stringify(replayed)) as JsonValue };
    } catch (error) {
      if (error instanceof UsageError) return refuse(error.message);
      throw error;
    }
  },
};

export function replayCommand(port: ReplayPort): readonly Command[] {
  return withPort([REPLAY], () => port);
}

/** Describes what protects the machine in this session. */
export interface ProtectionPort extends Pick<PermissionsState, "policy" | "session"> {
  decided(call?: CallId): readonly DecidedCall[];
  readonly planMode: boolean;
  readonly safeMode: Pick<StateFile<SafeModeState>, "load">;
  audit(): Promise<AuditRing>;
  sandbox(): Promise<SandboxState>;
}

const PROTECTION: readonly CommandOf<ProtectionPort>[] = [
  {
    name: "why",
    summary: "show why the last call, or CALL, was allowed, asked about or denied",
    arguments: [{ name: "CALL", kind: "text", optional: true }],
    reaches: "session",
    users: EVERYONE,
    places: IN_SESSION,
    run: async (args, { decided, audit }) =>
      answer((await texts()).why(args.text("CALL"), decided, (await audit()).entries())),
  },
  {
    name: "security",
    summary: "show the sandbox, permissions, safe mode and audit at a glance",
    reaches: "session",
    users: EVERYONE,
    places: IN_SESSION,
    run: (_args, port) => overview(port),
  },
];

export function protectionCommands(open: () => Promise<ProtectionPort>): readonly Command[] {
  return withPort(PROTECTION, open);
}

async function overview(port: ProtectionPort): Promise<CommandResult> {
  const [
    { listPermissions, permissionsText, securityText },
    { describeSafeMode },
    { describeSandbox },
    { auditStatus },
  ] = await Promise.all([
    texts(),
    import("../safe-mode/safe-mode.js"),
    import("../sandbox/state.js"),
    import("../audit/commands.js"),
  ]);
  const sandbox = describeSandbox(await port.sandbox());
  const listed = listPermissions(port);
  const safe = await port.safeMode.load();
  const ring = await port.audit();
  return {
    text: securityText({
      sandbox,
      safeMode: describeSafeMode(safe),
      permissions: permissionsText(port),
      audit: auditStatus(ring),
      planMode: port.planMode,
    }),
    value: {
      sandbox,
      permissions: listed.ok ? listed.value : null,
      safe_mode: { ...safe },
      plan_mode: port.planMode,
      audit: { entries: ring.entries().length },
    },
  };
}

/** The plan mode of a session, for the person who has it open. */
export interface PlanPort {
  isOn(): boolean;
  /** Returns why it stays off. */
  enter(): Promise<string | undefined>;
  /** `work` begins if there is a plan. */
  exit(): Promise<
    | { readonly refused: string }
    | { readonly work?: { readonly content: readonly InputContent[]; readonly notice: string } }
  >;
}

const PLAN: readonly CommandOf<PlanPort>[] = [
  {
    name: "plan:on",
    summary: "plan only",
    reaches: "session",
    sends: "EnterPlanMode",
    places: IN_SESSION,
    run: async (_args, plan) => {
      const refusal = await plan.enter();
      return refusal === undefined ? planState(plan) : refuse(refusal);
    },
  },
  {
    name: "plan:approve",
    summary: "approve the plan and carry it out",
    reaches: "session",
    sends: "ExitPlanMode",
    places: IN_SESSION,
    run: async (_args, plan) => {
      const left = await plan.exit();
      if ("refused" in left) return refuse(left.refused);
      const { work } = left;
      const state = planState(plan);
      return work === undefined ? state : { ...state, turn: { input: work.content, notice: work.notice } };
    },
  },
  {
    name: "plan:off",
    summary: "leave plan mode without carrying out a plan",
    reaches: "session",
    sends: "ExitPlanMode",
    places: IN_SESSION,
    run: async (_args, plan) => {
      const left = await plan.exit();
      return "refused" in left ? refuse(left.refused) : planState(plan);
    },
  },
  {
    name: "plan:status",
    aliases: ["plan"],
    summary: "show whether plan mode is on",
    reaches: "session",
    places: IN_SESSION,
    run: (_args, plan) => {
      const { text, ...state } = planState(plan);
      return { text: plan.isOn() ? text : `${text} /plan on begins it.`, ...state };
    },
  },
];

/** The registry refuses agents, so a person approves. */
export function planCommands(plan: PlanPort): readonly Command[] {
  return withPort(PLAN, () => plan);
}

function planState(plan: PlanPort) {
  const on = plan.isOn();
  return {
    text: on
      ? "Plan mode is on: Oxbow changes nothing until you approve a plan. /plan approve carries it out."
      : "Plan mode is off.",
    value: { on },
  };
}

function answer(result: CommandText): CommandResult {
  return result.ok ? { text: result.text, value: result.value } : refuse(result.text);
}

const [LIST, TEST, SET, RESET] = RULES;

export const subject: Subject = {
  name: "permissions",
  summary: "show, test and change what may run without asking",
  heading: "Permissions",
  specs: [...RULES, REPLAY, ...PROTECTION],
  shell: {
    specs: [LIST, TEST, REPLAY, SET, RESET, ...safeMode.specs].filter((spec) => spec !== undefined),
    about: "Shows and changes what may run without asking.",
    more: "Exit codes of 'test': 0 runs without asking, 4 asks, 1 denied.",
  },
};

export const planSubject: Subject = {
  name: "plan",
  summary: "plan first: Oxbow changes nothing until you approve",
  heading: "Permissions",
  specs: PLAN,
};
