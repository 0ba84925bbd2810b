/**
 * Describes what the user allowed for the session.
 *
 * 1. In memory only, until the end of the run. The user may write a rule to the profile.
 * 2. A rule is for one tool, by its name. It never allows another.
 * 3. What was allowed in a turn that a human started does not hold in a turn that an agent started: the person answered for what
 *    they had asked for themselves.
 * 4. A pattern covers what could be shown when it was accepted. Files that need a question of their own, redirects, variables and
 *    unknown words are not covered by it.
 * 5. It never overrides a rule that the user wrote, safe mode, path permissions or the blocklist: see the order in `decide.ts`.
 */

import { compileGlob, type Glob, matchesPath, matchesText, matchesWords } from "../../base/glob.js";
import type { JsonObject } from "../../protocol/json.js";
import type { CommandFacts, DecisionFacts, Identity } from "./facts.js";
import { describeCall } from "./facts.js";
import { type LastingRule, literal } from "./lasting-rule.js";
import type { Subject } from "./rule.js";

/** Describes what a rule for the session would allow, before the user accepts it. */
export type SessionRuleDraft =
  | {
      readonly kind: "tool";
      readonly tool: string;
      /** It was accepted for a call that needs more than the sandbox gives, so it holds for such calls too. */
      readonly beyond?: true;
    }
  | {
      readonly kind: "command";
      readonly tool: string;
      readonly glob: Glob;
      readonly example: string;
      /** It needs the network, so a lasting rule opens it. */
      readonly network?: true;
    }
  | { readonly kind: "path"; readonly tool: string; readonly glob: Glob; readonly example: string }
  | {
      readonly kind: "argument";
      readonly tool: string;
      readonly name: string;
      readonly glob: Glob;
      readonly example: string;
    }
  /** This very call, where nothing wider can be offered. */
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly fingerprint: string;
      readonly summary: string;
      /** The narrowest rules that allow it beyond the session. */
      readonly rules: readonly LastingRule[];
    };

export interface SessionRule {
  /** Never used again in the session, so that a number on the screen stays true. */
  readonly number: number;
  readonly draft: SessionRuleDraft;
  /** Says who had started the turn in which it was accepted. */
  readonly originator: Identity;
  /** The id that the next event had when it was accepted; absent if it is older than the session. */
  readonly since?: number | undefined;
}

export class SessionRules {
  readonly #rules: SessionRule[] = [];
  #next = 1;

  /** A copy with the rules from before an event. */
  until(event: number): SessionRules {
    const copy = new SessionRules();
    copy.#rules.push(...this.#rules.filter(({ since = 0 }) => since <= event));
    copy.#next = this.#next;
    return copy;
  }

  /** The rules count as older than every event. */
  settle(): void {
    this.#rules.splice(0, this.#rules.length, ...this.#rules.map(({ since: _, ...rule }) => rule));
  }

  list(): readonly SessionRule[] {
    return this.#rules;
  }

  add(
    drafts: readonly SessionRuleDraft[],
    originator: Identity,
    { since }: { readonly since?: number | undefined } = {},
  ): readonly SessionRule[] {
    const added = drafts
      .filter((draft) => !this.#rules.some((rule) => rule.originator === originator && same(rule.draft, draft)))
      .map((draft) => ({ number: this.#next++, draft, originator, ...(since !== undefined && { since }) }));
    this.#rules.push(...added);
    return added;
  }

  find(number: number): SessionRule | undefined {
    return this.#rules.find((rule) => rule.number === number);
  }

  /** False if there is no such rule. */
  revoke(number: number): boolean {
    const index = this.#rules.findIndex((rule) => rule.number === number);
    if (index === -1) return false;
    this.#rules.splice(index, 1);
    return true;
  }

  clear(): number {
    return this.#rules.splice(0).length;
  }
}

/** The rule of the session that allows a part of a call. */
export function sessionRuleFor(
  rules: readonly SessionRule[],
  facts: DecisionFacts,
  subject: Subject,
): SessionRule | undefined {
  return rules.find(({ draft, originator }) => {
    if (draft.tool !== facts.tool.name) return false;
    if (facts.originator === "agent" && originator === "human") return false;
    return covers(draft, facts, subject);
  });
}

function covers(draft: SessionRuleDraft, facts: DecisionFacts, subject: Subject): boolean {
  switch (draft.kind) {
    case "tool":
      return true;
    case "call":
      return draft.fingerprint === fingerprint(facts);
    case "argument": {
      const value = Object.hasOwn(facts.args, draft.name) ? facts.args[draft.name] : undefined;
      return typeof value === "string" && matchesText(draft.glob, value);
    }
    case "path": {
      if (subject.kind !== "path" || subject.path.place !== "workspace") return false;
      const asksForItself = subject.path.sensitive !== undefined && !draft.glob.exact;
      return !asksForItself && matchesPath(draft.glob, subject.path.display);
    }
    case "command": {
      if (subject.kind !== "command") return false;
      const { part, whole } = subject;
      return whole.joined && part.coverage === "pattern" && matchesWords(draft.glob, part.words);
    }
  }
}

/**
 * Chooses what to offer for "this pattern for the session". `asking` are the parts of the call that nothing else allows, and `isNetworked` says
 * whether one of them needs the network.
 */
export function offerFor(
  facts: DecisionFacts,
  asking: readonly Subject[],
  isNetworked: (subject: Subject) => boolean,
): readonly SessionRuleDraft[] {
  const { tool, args, command, paths } = facts;
  const thisCall = [callDraft(facts, asking.some(isNetworked))];
  // How an extension uses its arguments is unknown.
  if (tool.origin !== "built-in") return thisCall;
  if (command !== undefined) return commandDrafts(tool.name, { whole: command, asking, isNetworked }) ?? thisCall;
  const drafts = paths.length > 0 ? pathDrafts(facts, asking) : hostDraft(tool.name, args);
  return drafts ?? thisCall;
}

function commandDrafts(
  tool: string,
  {
    whole,
    asking,
    isNetworked,
  }: { whole: CommandFacts; asking: readonly Subject[]; isNetworked: (subject: Subject) => boolean },
): readonly SessionRuleDraft[] | undefined {
  if (!whole.joined) return undefined;
  const drafts: SessionRuleDraft[] = [];
  for (const subject of asking) {
    if (subject.kind !== "command") return undefined;
    const { pattern, coverage, words, text } = subject.part;
    if (pattern === undefined || coverage !== "pattern") return undefined;
    const glob = compileGlob(pattern, "words");
    if (!matchesWords(glob, words)) return undefined;
    if (!drafts.some((draft) => draft.kind === "command" && draft.glob.source === pattern)) {
      drafts.push({ kind: "command", tool, glob, example: text, ...(isNetworked(subject) && { network: true }) });
    }
  }
  return drafts.length === 0 ? undefined : drafts;
}

/** The folder of a file; a file at the top, or one that always asks, only by its name. */
function pathDrafts(facts: DecisionFacts, asking: readonly Subject[]): readonly SessionRuleDraft[] | undefined {
  const drafts = new Map<string, SessionRuleDraft>();
  for (const subject of asking) {
    if (subject.kind !== "path" || subject.path.place !== "workspace") return undefined;
    const { display, sensitive } = subject.path;
    const slash = display.lastIndexOf("/");
    const wide = slash > 0 && sensitive === undefined;
    const pattern = wide ? `${literal(display.slice(0, slash))}/**` : literal(display);
    drafts.set(pattern, {
      kind: "path",
      tool: facts.tool.name,
      glob: compileGlob(pattern, "path"),
      example: display,
    });
  }
  return drafts.size === 0 ? undefined : [...drafts.values()];
}

function hostDraft(tool: string, args: JsonObject): readonly SessionRuleDraft[] | undefined {
  const { url } = args;
  const found = typeof url === "string" ? /^(https?:\/\/[a-z0-9.-]+(?::[0-9]+)?)(?:\/|$)/i.exec(url) : null;
  if (found === null || typeof url !== "string") return undefined;
  const glob = compileGlob(`${found[1]}{,/*}`, "text");
  return [{ kind: "argument", tool, name: "url", glob, example: url }];
}

function callDraft(facts: DecisionFacts, network: boolean): SessionRuleDraft {
  const { name } = facts.tool;
  const rules = narrowestRules(facts, network);
  return { kind: "call", tool: name, fingerprint: fingerprint(facts), summary: describeCall(name, facts.args), rules };
}

/** The exact text of a command, the exact files, or else the tool: a rule cannot say more about the arguments of an extension. */
function narrowestRules({ tool, args, command, paths }: DecisionFacts, network: boolean): readonly LastingRule[] {
  const name = literal(tool.name);
  if (tool.origin === "built-in" && command !== undefined && typeof args.command === "string") {
    const argument = { name: "command", glob: literal(args.command) };
    return [{ tool: name, argument, ...(network && { network: true as const }) }];
  }
  if (tool.origin !== "built-in" || paths.length === 0) return [{ tool: name }];
  return paths.map(({ place, absolute, display }) => {
    return { tool: name, path: literal(place === "workspace" ? display : absolute) };
  });
}

/** A command is its text: how long it may take and what the model calls it make no other call of it. */
function fingerprint({ tool, args, command }: DecisionFacts): string {
  return command === undefined ? canonical(args) : `${tool.set} ${command.text}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`;
}

function same(one: SessionRuleDraft, other: SessionRuleDraft): boolean {
  return one.kind === other.kind && one.tool === other.tool && draftDetail(one) === draftDetail(other);
}

function draftDetail(draft: SessionRuleDraft): string {
  switch (draft.kind) {
    case "tool":
      return draft.beyond ? "beyond" : "";
    case "call":
      return draft.fingerprint;
    case "argument":
      return `${draft.name} ${draft.glob.source}`;
    default:
      return draft.glob.source;
  }
}

/** The offer in one line: `bash: git commit *`. */
export function draftText(draft: SessionRuleDraft): string {
  switch (draft.kind) {
    case "tool":
      return `${draft.tool}: every call${draft.beyond ? ", also beyond the sandbox" : ""}`;
    case "call":
      return `only this: ${draft.summary}`;
    case "argument":
      return `${draft.tool}: ${draft.name} ${draft.glob.source.replace("{,/*}", "/…")}`;
    default:
      return `${draft.tool}: ${draft.glob.source}`;
  }
}

/** Returns the rules that say the same in a profile. */
export function lastingRules(draft: SessionRuleDraft): readonly LastingRule[] {
  if (draft.kind === "call") return draft.rules;
  const tool = literal(draft.tool);
  if (draft.kind === "tool") return [{ tool }];
  const { example, glob } = draft;
  if (draft.kind === "path") return [{ tool, path: glob.source, example }];
  if (draft.kind === "argument") return [{ tool, argument: { name: draft.name, glob: glob.source }, example }];
  return [{ tool, command: glob.source, ...(draft.network && { network: true }), example }];
}
