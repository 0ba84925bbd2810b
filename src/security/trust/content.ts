/** The content of a folder that Oxbow would load: its kinds, and what each can do. */

import { join } from "node:path";
import type { ExtensionKind } from "../../base/extension-files.js";

export type ContentKind = ExtensionKind | "sessions" | "instructions";

/** Programs that run, settings of Oxbow, words that the model reads. */
export type Effect = "runs" | "configures" | "informs";

interface KindTraits {
  readonly effect: Effect;
  readonly label: string;
  /** From a project it also needs --allow-project-hooks. */
  readonly needsFlag: boolean;
}

const TRAITS: Readonly<Record<ContentKind, KindTraits>> = {
  hook: { effect: "runs", label: "hook", needsFlag: true },
  tool: { effect: "runs", label: "tool", needsFlag: true },
  command: { effect: "runs", label: "command", needsFlag: true },
  provider: { effect: "runs", label: "provider", needsFlag: true },
  plugin: { effect: "runs", label: "plugin", needsFlag: true },
  mcp: { effect: "runs", label: "MCP server", needsFlag: false },
  "event-hooks": { effect: "runs", label: "event hook", needsFlag: true },
  profile: { effect: "configures", label: "profile", needsFlag: false },
  alias: { effect: "configures", label: "alias file", needsFlag: false },
  sessions: { effect: "configures", label: "session folder", needsFlag: false },
  instructions: { effect: "informs", label: "instruction file", needsFlag: false },
  prompt: { effect: "informs", label: "slash command", needsFlag: false },
  agent: { effect: "informs", label: "agent file", needsFlag: false },
  skill: { effect: "informs", label: "skill", needsFlag: false },
  "skill-file": { effect: "informs", label: "file of a skill", needsFlag: false },
  memory: { effect: "informs", label: "memory", needsFlag: false },
};

/** `user`: from Oxbow's configuration folder, or from a folder of another tool in the user's home. Everything else came with the project. */
export type Owner = "user" | "project";

/** One thing that is approved on its own: a file, or one entry of a file that lists programs to start. */
export interface ContentItem {
  /** The folder, free of links, that the approval is for: the project's top, or the user's configuration folder. */
  readonly root: string;
  /** Below the root, with forward slashes. */
  readonly path: string;
  /** `mcp_servers.NAME` or `hooks.EVENT`, when the item is that part of the file. */
  readonly entry?: string;
  readonly kind: ContentKind;
  readonly owner: Owner;
  /** By its mode; a file of a skill also by its name. */
  readonly executable: boolean;
  /** Of the file's bytes, or of the entry in its canonical form. */
  readonly sha256: string;
  readonly size: number;
  /** The folder it was found in, absolute, such as `/home/ann/project/.oxbow`. */
  readonly source?: string;
  /** Below the folder of its kind, with forward slashes: `start/10-a` for `hooks.d/start/10-a`. */
  readonly name?: string;
  /** The plugin that it belongs to: the folder it was found in. */
  readonly plugin?: string;
  /** It was written for another tool, so a run without a terminal skips it rather than stops. */
  readonly optional?: true;
  /** It is neither in the project nor in the user's configuration, so that only its whole path tells where. */
  readonly isAbove?: true;
  /** Only a part of other content, which names it. */
  readonly imported?: true;
  /** The place where it really lies, when a link leads there. */
  readonly target?: string;
}

/** Found where content is looked for, but never loaded and never approved. */
export interface UnusableContent {
  readonly root: string;
  readonly path: string;
  readonly kind: ContentKind;
  readonly owner: Owner;
  /** Ends the sentence "PATH …". */
  readonly problem: string;
}

export interface FoundContent {
  /** The folders that were looked in. */
  readonly roots: readonly string[];
  readonly items: readonly ContentItem[];
  readonly unusable: readonly UnusableContent[];
  /** The folders whose names decide what is found: a change of one of them is a reason to search again. */
  readonly folders?: readonly string[];
}

declare const TRUSTED: unique symbol;
/** An item that `decideTrust` accepted: `readTrusted` returns the bytes of these only. */
export type TrustedItem = ContentItem & { readonly [TRUSTED]: true };

export function effectOf({ kind, executable }: Pick<ContentItem, "kind" | "executable">): Effect {
  return kind === "skill-file" && executable ? "runs" : TRAITS[kind].effect;
}

export function labelOf(kind: ContentKind): string {
  return TRAITS[kind].label;
}

/** Tells whether an acknowledgement alone is not enough for it to run. */
export function needsProjectFlag({ kind, owner }: Pick<ContentItem, "kind" | "owner">): boolean {
  return owner === "project" && TRAITS[kind].needsFlag;
}

export function isContentKind(value: unknown): value is ContentKind {
  return typeof value === "string" && Object.hasOwn(TRAITS, value);
}

/** `.mcp.json: mcp_servers.search`; still as the file system has it, so not yet safe to show. */
export function nameOf({
  root,
  path,
  entry,
  isAbove,
}: Pick<ContentItem, "path" | "entry" | "isAbove"> & { readonly root?: string }): string {
  const shown = isAbove && root !== undefined ? join(root, path) : path;
  return entry === undefined ? shown : `${shown}: ${entry}`;
}

/** The identity of an item with its content. */
export function versionOf({ root, path, entry = "", sha256 }: ContentItem): string {
  return [root, path, entry, sha256].join("\0");
}

/** The identity of an item, independent of its content. */
export function keyOf({ root, path, entry }: Pick<ContentItem, "path" | "entry"> & { readonly root: string }): string {
  return JSON.stringify([root, path, entry ?? null]);
}

/** Lists what people extend Oxbow with. */
export const EXTENSION_KINDS: ReadonlySet<ContentKind & ExtensionKind> = new Set([
  "hook",
  "tool",
  "command",
  "provider",
  "plugin",
  "mcp",
  "event-hooks",
  "profile",
  "alias",
  "prompt",
  "agent",
  "skill",
  "skill-file",
  "memory",
]);
/** Lists what this build loads; Oxbow does not ask about the rest. */
export const LOADED_KINDS: ReadonlySet<ContentKind> = new Set(["instructions", ...EXTENSION_KINDS]);
/** A run does not need the session folder, so it asks about it only on a terminal. */
export const ASKED_KINDS: ReadonlySet<ContentKind> = new Set([...LOADED_KINDS, "sessions"]);
