/**
 * The permissions of one run: passes settings, files and facts to the engine that decides. Loaded with the
 * first call, because a run without calls needs none of it.
 */
import { Once } from "../../base/once.js";
import type { PermissionJudge } from "../../chain/services.js";
import type { Tool, ToolCall } from "../../engine/ports.js";
import type { Identity } from "../../protocol/client.js";
import type { PermissionDecision, ToolKind } from "../../protocol/events.js";
import type { Opening } from "../../security/permissions/contained/needs.js";
import type { PermissionEngine } from "../../security/permissions/engine.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import type { SandboxRestrictions } from "../../security/permissions/sandbox-restrictions.js";
import type { Verdict } from "../../security/permissions/verdict.js";
import type { PermissionParts, PermissionPlace } from "./open-permissions.js";

export interface RunPermissionsOptions extends PermissionPlace {
  /** Tells whether commands run in a sandbox; checked when a decision depends on it. */
  readonly isSandboxed: () => Promise<boolean>;
  /** Tells why mode `auto` asks like mode `ask`; undefined if commands can run without asking. */
  readonly whyNotContained?: () => Promise<string | undefined>;
  /** The client that started the turn. */
  readonly originator: () => Identity;
  /** The earlier run, whose plan mode and session rules also apply here. */
  readonly before?: RunPermissions | undefined;
  /** The state of the earlier run that this one goes back to. */
  readonly back?: EarlierPermissions | undefined;
  /** The id of the next event. */
  readonly nextEvent?: () => number;
  /** A resumed session was in plan mode. */
  readonly isPlanning?: boolean;
  /** The mode that a person has chosen in a resumed session. */
  readonly resumedMode?: PermissionMode | undefined;
  /** The permissions of the parent session of a subagent: they are the limit, even when they change. */
  readonly outer?: RunPermissions | undefined;
}

export interface EarlierPermissions {
  /** Session rules from before this event stay. */
  readonly until: number;
  /** The mode that the user had chosen then. */
  readonly mode: PermissionMode | undefined;
  readonly plan: boolean;
  /** The events of this session up to there have the same ids. */
  readonly keepsIds: boolean;
}

/** Tools of these kinds only read the workspace; the name shows whether a file is sensitive. */
const QUICK: ReadonlySet<ToolKind | undefined> = new Set<ToolKind>(["read", "list", "search", "plan"]);

export class RunPermissions implements PermissionJudge {
  readonly #options: RunPermissionsOptions;
  readonly #parts = new Once(() => this.#open());
  #engine: PermissionEngine | undefined;
  #restrictions: (() => SandboxRestrictions) | undefined;
  #mode: PermissionMode | undefined;
  #sandboxed = false;
  #contained = false;

  constructor(options: RunPermissionsOptions) {
    this.#options = options;
    const { before, back, resumedMode } = options;
    if (back === undefined) this.#mode = before?.chosenMode ?? (this.#isModeGiven ? undefined : resumedMode);
    // To allow everything again takes a choice of the user.
    else this.#mode = back.mode === "allow" && before?.chosenMode !== "allow" ? undefined : back.mode;
  }

  /** The user's choice in this session; undefined if the settings decide. */
  get chosenMode(): PermissionMode | undefined {
    return this.#mode;
  }

  get mode(): PermissionMode {
    const { outer } = this.#options;
    if (outer !== undefined) return outer.mode;
    return this.#mode ?? this.#options.loaded.settings.permission_mode.value;
  }

  /** A person who allows everything in a session does so for turns of people, not for those of an agent that joins the session. */
  get modeOfTurn(): PermissionMode {
    const { outer, originator, loaded } = this.#options;
    if (outer !== undefined) return outer.modeOfTurn;
    return this.#mode === "allow" && originator() === "agent" ? loaded.settings.permission_mode.value : this.mode;
  }

  /** Applies to this session from the next decision on. */
  setMode(mode: PermissionMode): void {
    this.#mode = mode;
    this.#contained = false;
  }

  async judge(call: ToolCall, tool: Tool): Promise<Verdict> {
    const { engine } = await this.parts();
    if (tool.set === "command" || tool.set === "edit") await this.findSandbox();
    // Starting a subagent changes nothing: each of its calls gets its own decision.
    const judged = tool.set === "agents" ? { ...tool, mutating: false } : tool;
    const verdict = await engine.judge(call, judged, this.#options.originator());
    if (verdict.decision === "deny") return verdict;
    if (this.#lacksSandbox(tool)) return NO_SANDBOX;
    const granted = verdict.law === "rule" && verdict.decision === "allow" ? (verdict.openings ?? []) : [];
    const wanted = (await this.#wantedOpenings(call, tool)).filter((each) => !granted.includes(each));
    const question = this.#leavesSandbox(call, tool)
      ? OUTSIDE
      : wanted.length > 0
        ? { ...openingQuestion(wanted), openings: [...new Set([...(verdict.openings ?? []), ...wanted])] }
        : verdict;
    if (!this.#options.loaded.settings.auto_approve.value) return question;
    const { autoApproved } = await import("../../security/permissions/identity.js");
    return autoApproved(question);
  }

  /** Tells what the model asks the sandbox to open; unknown words are ignored. */
  async #wantedOpenings({ args }: ToolCall, tool: Tool): Promise<readonly Opening[]> {
    // The schema of an extension says what it needs; its arguments open nothing.
    const wanted = tool.extension === undefined ? [args.allow] : tool.extension.needs;
    if (tool.set !== "command" || !this.#sandboxed || wanted.every((each) => each === undefined)) return [];
    const { OPENINGS } = await import("../../security/permissions/contained/needs.js");
    return OPENINGS.filter((opening) => wanted.includes(opening));
  }

  remember(call: ToolCall, decision: PermissionDecision, { verdict }: { readonly verdict: Verdict }): void {
    const { originator, nextEvent } = this.#options;
    const since = nextEvent?.() ?? 0;
    this.#engine?.remember({ tool: call.tool, verdict, originator: originator(), since }, decision);
  }

  /** Tells whether a call certainly needs no question. The decision is still made when it runs. */
  mayStartEarly(call: ToolCall, tool: Tool): boolean {
    if (this.#engine !== undefined) return this.#engine.mayStartEarly(call, tool, this.#options.originator());
    const { loaded, plugins = [] } = this.#options;
    const { permissions } = loaded.settings;
    const mode = this.modeOfTurn;
    const hasRules =
      permissions.value !== undefined || plugins.some(({ registrations }) => registrations.rules.length > 0);
    if (mode === "deny" || hasRules) return false;
    if (tool.set === "web") return mode === "allow" && !this.planning;
    if (tool.extension !== undefined || tool.set !== "read" || !QUICK.has(tool.kind)) return false;
    const path = typeof call.args.path === "string" ? call.args.path : "";
    return !/(^|\/)\.[^./]|secret|key|token|credential|password|^[/~]|\.\./i.test(path);
  }

  /** The limits of path permissions for commands; none before the first decision. */
  restrictions(): SandboxRestrictions {
    return this.#restrictions?.() ?? { hidden: [], readOnlyWithin: [] };
  }

  /** Until then, decisions assume none. */
  async findSandbox(): Promise<void> {
    const { isSandboxed, whyNotContained } = this.#options;
    this.#sandboxed = await isSandboxed();
    const { runsUnasked } = await import("./open-sandbox.js");
    const mayContain = runsUnasked(this.modeOfTurn, this.#options.loaded.settings) && whyNotContained !== undefined;
    this.#contained = mayContain && (await whyNotContained()) === undefined;
  }

  parts(): Promise<PermissionParts> {
    return this.#parts.get();
  }

  /** Before the engine is loaded, the initial choice applies. */
  get planning(): boolean {
    const { before, outer, onlyReads, back } = this.#options;
    if (onlyReads) return true;
    return this.#engine?.plan.on ?? back?.plan ?? (outer ?? before)?.planning ?? this.#startsPlanning;
  }

  get #startsPlanning(): boolean {
    const { loaded, isPlanning = false } = this.#options;
    return loaded.settings.plan.value || (isPlanning && !this.#isModeGiven);
  }

  /** A mode on the command line is a choice of the person. */
  get #isModeGiven(): boolean {
    return this.#options.loaded.settings.permission_mode.origin.startsWith("--");
  }

  /** A yes would not help: the command could not run. */
  #lacksSandbox({ set }: Tool): boolean {
    return set === "command" && !this.#sandboxed && this.#options.loaded.settings.sandbox.value === "required";
  }

  #leavesSandbox(call: ToolCall, tool: Tool): boolean {
    const asks = tool.set === "command" && tool.extension === undefined && call.args.outside_sandbox === true;
    return asks && this.#sandboxed;
  }

  async #open(): Promise<PermissionParts> {
    const options = this.#options;
    const [{ openPermissions }, before, outer] = await Promise.all([
      import("./open-permissions.js"),
      options.before?.parts(),
      options.outer?.parts(),
    ]);
    const parts = await openPermissions(
      { ...options, before, outer },
      { mode: () => this.modeOfTurn, sandboxed: () => this.#sandboxed, contained: () => this.#contained },
    );
    const { engine } = parts;
    const isFirst = before === undefined && outer === undefined;
    if (options.back?.plan ?? (isFirst && this.#startsPlanning)) engine.plan.enter();
    this.#engine = engine;
    this.#restrictions = () => parts.restrictions();
    return parts;
  }
}

const NO_SANDBOX: Verdict = {
  decision: "deny",
  decidedBy: 'sandbox = "required"',
  law: "no sandbox",
  reason: "A sandbox is required, and this machine has none.",
};

const OUTSIDE: Verdict = {
  decision: "ask",
  decidedBy: "sandbox",
  law: "default",
  reason: "It would run outside the sandbox: with all your rights, and with the network.",
  offer: [],
};

const OPENING_TEXTS: Readonly<Record<Opening, string>> = {
  network: "the network",
  git: "changes of .git",
  unix_sockets: "Unix sockets, which reach your other programs",
  secrets: "secret files of the workspace",
};

function openingQuestion(openings: readonly Opening[]): Verdict {
  const reason = `It asks for ${openings.map((each) => OPENING_TEXTS[each]).join(", and for ")}.`;
  return { decision: "ask", decidedBy: "sandbox", law: "default", reason, offer: [] };
}
