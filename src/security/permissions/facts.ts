/** Describes what is known about a call before it is decided. Plain data: made by `collect-facts.ts`, read by `decide.ts`. */
import { shorten } from "../../base/cap-text.js";
import type { ToolSet } from "../../engine/ports.js";
import type { Identity } from "../../protocol/client.js";
import type { ToolKind } from "../../protocol/events.js";
import type { JsonObject } from "../../protocol/json.js";

export const DECISIONS = ["allow", "ask", "deny"] as const;
export type Decision = (typeof DECISIONS)[number];

export type { Identity } from "../../protocol/client.js";

export const IDENTITIES: readonly Identity[] = ["human", "agent"];

export type PathAccess = "read" | "write" | "exec" | "delete";

export interface ToolFacts {
  readonly name: string;
  readonly set: ToolSet;
  /** Decides something for a built-in tool only. */
  readonly kind?: ToolKind;
  readonly mutating: boolean;
  /** It reaches other machines. */
  readonly network?: boolean;
  /** The claims of an extension about itself do not count: only `built-in` tools are ever quiet. */
  readonly origin: "built-in" | "extension";
}

export interface PathFacts {
  /** With forward slashes and free of links, as far as that can be known. */
  readonly absolute: string;
  /** Relative to the workspace; absolute when it is elsewhere. */
  readonly display: string;
  readonly access: PathAccess;
  /** `unreachable`: outside, and the tool itself would refuse it. */
  readonly place: "workspace" | "outside" | "unreachable";
  /** Also everything below it. */
  readonly recursive?: true;
  /** The program of a command, or the script of an interpreter: not merely a word that could be one. */
  readonly runs?: true;
  /** The reason why the user should agree first. */
  readonly sensitive?: string;
  /** The reason why a change needs the user's yes for exactly this path. */
  readonly guarded?: string;
  /** It is one of Oxbow's own files, under any name. */
  readonly own?: true;
}

/** The words of a command; undefined for one that is not known before it runs. */
export type Words = readonly (string | undefined)[];

/** One simple command of a text. */
export interface CommandPart {
  readonly text: string;
  readonly verdict: "read-only" | "ask" | "blocked";
  readonly reason: string;
  readonly words: Words;
  /**
   * Every reading of what it runs: its words, programs by their bare name, and programs in its arguments (`sudo`,
   * `xargs`, `bash -c`). For finding what is forbidden, not for trusting.
   */
  readonly readings: readonly Words[];
  /** The programs that certainly run, in the order they start each other; undefined for an unknown one. */
  readonly programs: readonly (string | undefined)[];
  /** Variables set for it or for what follows that can change what runs. */
  readonly variables: readonly string[];
  /** Files that its redirects write, as they are written in the text. */
  readonly writes: readonly string[];
  /** An option by which it runs another program or writes. */
  readonly refusedOption?: string;
  /**
   * Holds what may allow it. `pattern`: a pattern that the user accepted for the session. `rule`: only a rule that the user wrote.
   * `exact`: only one without wildcards, because a word names a file that may hold secrets. `none`: it writes by a redirect, sets variables, or holds words or options that a pattern would let through unseen.
   */
  readonly coverage: "pattern" | "rule" | "exact" | "none";
  /** It shows a file that holds secrets or lies outside, without naming it: why it asks. */
  readonly exposes?: string;
  /** The pattern to offer for the session. */
  readonly pattern?: string;
  /** Files that its words name. */
  readonly paths: readonly PathFacts[];
}

export interface CommandFacts {
  readonly text: string;
  readonly verdict: "read-only" | "ask" | "blocked";
  readonly reason: string;
  /** Every simple command, wherever it is nested; empty when the text could not be understood. */
  readonly parts: readonly CommandPart[];
  /** A list of commands and pipelines, none inside another: each command can be judged alone. */
  readonly plain: boolean;
  /** No loops, functions or conditions: rules apply to its commands one by one. */
  readonly joined: boolean;
  /** A sentence about a file that holds secrets and that the text names. */
  readonly secret?: string;
  /** A sentence about the many files that it deletes. */
  readonly deletes?: string;
}

export interface DecisionFacts {
  readonly tool: ToolFacts;
  readonly args: JsonObject;
  /** For a tool that takes a command. */
  readonly command?: CommandFacts;
  readonly paths: readonly PathFacts[];
  /** The client that started the turn. */
  readonly originator: Identity;
  /** A working sandbox contains the call. */
  readonly sandboxed: boolean;
  /** The sandbox also hides the home folder, blocks the network and keeps all of `.git` read-only, and undo records the changes. */
  readonly contained?: boolean;
  /** `subagent`: a subagent that only reads, whatever the session does. */
  readonly planMode: boolean | "subagent";
}

/** Names the files without parsing the patch: a broken one is described, too. */
function filesOfPatch(patch: unknown): readonly string[] {
  if (typeof patch !== "string") return [];
  const named = patch.matchAll(
    /^(?:\*\*\* (?:Add File|Update File|Delete File|Move to): |\+\+\+ (?!\/dev\/null)(?:b\/)?)(.+)$/gm,
  );
  return [...new Set([...named].map(([, path = ""]) => path.trim()))];
}

/** One line that describes the call. */
export function describeCall(tool: string, args: JsonObject): string {
  const { command, path, url } = args;
  if (typeof command === "string") return `${tool}: ${command}`;
  if (typeof path === "string") return `${tool} ${path}`;
  if (typeof url === "string") return `${tool} ${url}`;
  const files = filesOfPatch(args.patch);
  if (files.length > 0) return `${tool} ${shorten(files.join(", "), 200)}`;
  const entries = Object.entries(args);
  const words = entries.map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return entries.length === 1 ? text : `${name}: ${text}`;
  });
  return `${tool} ${shorten(words.join(", "), 200)}`.trim();
}
