/**
 * The decisions of one run: it collects facts, applies the laws of `decide.ts`, and keeps the decisions for
 * afterwards. The link `20-permission` uses it, and commands show its decisions.
 */
import type { Tool, ToolCall } from "../../engine/ports.js";
import type { PermissionDecision } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import type { JsonObject } from "../../protocol/json.js";
import {
  type Circumstances,
  collectFacts,
  commandFactsByWords,
  type FactPorts,
  spelledFacts,
} from "./collect-facts.js";
import { decide, type PermissionPolicy } from "./decide.js";
import type { DecisionFacts, Identity } from "./facts.js";
import { describeCall } from "./facts.js";
import { PlanMode } from "./plan-mode.js";
import { type SessionRule, SessionRules } from "./session-rules.js";
import type { Verdict } from "./verdict.js";
import { modeDenies } from "./whole-laws.js";

export interface EngineOptions {
  readonly ports: FactPorts;
  /** Read for each decision: safe mode, path permissions and rules may change during the run. */
  policy(): PermissionPolicy;
  sandboxed(): boolean;
  /** The session rules and plan mode of an earlier run, if they continue. */
  readonly before?: Pick<PermissionEngine, "session" | "plan"> & Partial<Pick<PermissionEngine, "decisions">>;
  /** Tells whether commands can be contained so tightly that mode `auto` runs them without asking. */
  contained?(): boolean;
  /** The run only reads, as in plan mode. */
  readonly onlyReads?: boolean;
  /** No person approves a plan of it. */
  readonly isSubagent?: boolean;
}

export interface DecidedCall {
  readonly call?: CallId;
  readonly summary: string;
  readonly verdict: Verdict;
}

const REMEMBERED = 200;

export class PermissionEngine {
  readonly session: SessionRules;
  readonly plan: PlanMode;
  /** The oldest first. A subagent shares those of its parent. */
  readonly decisions: DecidedCall[];
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.session = options.before?.session ?? new SessionRules();
    this.plan = options.before?.plan ?? new PlanMode();
    this.decisions = options.before?.decisions ?? [];
  }

  get policy(): PermissionPolicy {
    return this.#options.policy();
  }

  async judge(call: ToolCall, tool: Tool, originator: Identity): Promise<Verdict> {
    const verdict = await this.test({ tool, args: call.args }, originator);
    this.decisions.push({ call: call.call, summary: describeCall(call.tool, call.args), verdict });
    if (this.decisions.length > REMEMBERED) this.decisions.shift();
    return verdict;
  }

  /** The decision that would be made now; it is not recorded. */
  async test(
    call: { readonly tool: Pick<Tool, "name" | "set" | "kind" | "mutating" | "extension">; readonly args: JsonObject },
    originator: Identity = "human",
  ): Promise<Verdict> {
    const denied = await this.#deniedByWords(call, originator);
    return denied ?? decide(await this.#facts(call, originator), this.policy, this.session.list());
  }

  /** Denials come before any look at the disk. */
  async #deniedByWords(
    call: { readonly tool: Pick<Tool, "name" | "set" | "kind" | "mutating" | "extension">; readonly args: JsonObject },
    originator: Identity,
  ): Promise<Verdict | undefined> {
    const { policy } = this;
    if (policy.mode === "deny") return modeDenies();
    const facts = await commandFactsByWords(call, this.#circumstances(originator), this.#options.ports);
    const verdict = facts && decide(facts, policy, this.session.list());
    return verdict?.decision === "deny" ? verdict : undefined;
  }

  /** The facts about a call, for callers that decide in another way. */
  factsOf(call: {
    readonly tool: Pick<Tool, "name" | "set" | "kind" | "mutating" | "extension">;
    readonly args: JsonObject;
  }): Promise<DecisionFacts> {
    return this.#facts(call, "human");
  }

  /** Tells whether a call is certainly allowed, as far as known at once: it may then start before the model has finished. */
  mayStartEarly(call: ToolCall, tool: Tool, originator: Identity): boolean {
    const facts = spelledFacts({ tool, args: call.args }, this.#circumstances(originator), this.#options.ports);
    return facts !== undefined && decide(facts, this.policy, this.session.list()).decision === "allow";
  }

  /** The user's answer. Only the offer of the question is remembered, never text of the call. */
  remember(
    answered: {
      readonly tool: string;
      readonly verdict: Verdict;
      readonly originator: Identity;
      readonly since?: number;
    },
    decision: PermissionDecision,
  ): readonly SessionRule[] {
    const { tool, verdict, originator, since } = answered;
    if (verdict.once) return [];
    if (decision === "allow_tool") {
      const draft = { kind: "tool", tool, ...(verdict.beyond && { beyond: verdict.beyond }) } as const;
      return this.session.add([draft], originator, { since });
    }
    if (decision === "allow_pattern") return this.session.add(verdict.offer ?? [], originator, { since });
    return [];
  }

  /** The newest decisions first; with a call, that one. */
  decided(call?: CallId): readonly DecidedCall[] {
    const newest = [...this.decisions].reverse();
    return call === undefined ? newest : newest.filter((each) => each.call === call);
  }

  async #facts(
    call: { readonly tool: Pick<Tool, "name" | "set" | "kind" | "mutating" | "extension">; readonly args: JsonObject },
    originator: Identity,
  ): Promise<DecisionFacts> {
    return collectFacts(call, this.#circumstances(originator), this.#options.ports);
  }

  #circumstances(originator: Identity): Circumstances {
    const { sandboxed, contained, onlyReads = false, isSubagent = false } = this.#options;
    const planMode = onlyReads || (isSubagent && this.plan.on) ? "subagent" : this.plan.on;
    return { originator, sandboxed: sandboxed(), contained: contained?.() === true, planMode };
  }
}
