/**
 * A part of a live session: a small module that adds something to it. Features and plugins use this one interface.
 *
 * 1. Hooks, links and subscribers join the chains by their `NN-name`; the same name replaces a built-in one.
 * 2. The built-in hooks and links use the `services` of the part. If two parts supply the same service, the later one wins.
 * 3. A tool with the name of an earlier one replaces it.
 * 4. Parts are closed in reverse order; if one fails, the others are still closed.
 */
import type { Clock } from "../base/clock.js";
import type { ExtensionFiles, ExtensionScope } from "../base/extension-files.js";
import type { Variables } from "../base/variables.js";
import type { Bus } from "../engine/bus.js";
import type { RequestLink, Tool, ToolCall, ToolLink } from "../engine/ports.js";
import type { NamedHook, Stage, Turn } from "../engine/turn.js";
import type { InputContent, Message } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import type { Failure } from "../protocol/errors.js";
import type { EventPayloads, PermissionDecision } from "../protocol/events.js";
import type { CallId, SessionId } from "../protocol/ids.js";
import type { LogFunction } from "../system/log.js";
import type { Roots } from "../system/xdg-paths.js";
import type { Command, CommandContext, CommandResult } from "./command.js";

/** `["skills", ["pdf", "review"]]` */
export type LoadedNames = readonly [kind: string, names: readonly string[]];

/** A part of the run that sees its events. */
export interface Subscriber {
  readonly name: string;
  run(event: Envelope): void;
}

/** `Services` is what it supplies to the built-in hooks and links. */
export interface SessionPart<Services = object> {
  /** For messages about it. */
  readonly name: string;
  readonly services?: Services;
  readonly hooks?: Partial<Record<Stage, readonly NamedHook[]>>;
  /** Hooks that come and go between stages; the same object until they change. */
  readonly changingHooks?: () => Partial<Record<Stage, readonly NamedHook[]>>;
  /** Tells whether it must see all calls of an answer before one of them starts. */
  readonly holdsCalls?: () => boolean;
  readonly links?: { readonly request?: readonly RequestLink[]; readonly tool?: readonly ToolLink[] };
  /** A list, or a function that returns the current list: tools may come and go between iterations. */
  readonly tools?: readonly Tool[] | (() => readonly Tool[]);
  /** A tool that is not in the list and can still be called. */
  findTool?(name: string): Tool | undefined;
  /** A list, or a function that loads it with the first command that a client sends. */
  readonly commands?: readonly Command[] | (() => Promise<readonly Command[]>);
  /** Commands that depend on those of the other parts. */
  laterCommands?(known: KnownCommands): Promise<readonly Command[]>;
  readonly subscribers?: readonly Subscriber[];
  /** Called before the first stage of a turn and before each of its iterations. Must not throw. */
  refresh?(turn: Turn): Promise<void>;
  /** A section of the system prompt. Called once, when the session opens: the prompt does not change within a session. */
  promptSection?(size: "full" | "small"): string | undefined;
  /** Tells what the model gets with this input. */
  inputNotice?(input: readonly InputContent[]): string | undefined | Promise<string | undefined>;
  /** Tells what the model gets with the result of a call that used these files. Must not throw. */
  touched?(paths: readonly string[]): Promise<string | undefined>;
  /** Texts that a summary of older messages repeats word for word. */
  pinned?(place: PinnedPlace): Promise<readonly string[]> | readonly string[];
  /** Changes whenever `commands` would return others. */
  commandsStamp?(): string;
  /** Rows that `/status` shows about it: label and value. */
  statusRows?(): Promise<readonly (readonly [string, string])[]>;
  /** Tells what it has loaded for the profile, for `/profile`: the kind, and the names. */
  loaded?(): Promise<readonly LoadedNames[]>;
  /** Review calls after the permission rules; they never allow what those deny. */
  readonly gates?: readonly ApprovalGate[];
  /** Take part in compactions. */
  readonly compactions?: readonly CompactionWatcher[];
  close?(): Promise<unknown> | unknown;
}

export interface KnownCommands {
  find(name: string): Command | undefined;
  list(): readonly Command[];
  /** The first words of names, as people type them. */
  names(): readonly string[];
  /** The command that the first words name, and how many of them do. */
  resolve(
    words: readonly string[],
    context: Pick<CommandContext, "surface">,
  ): { readonly command: Command; readonly used: number } | { readonly failure: Failure };
}

/** The surface that a part can use. */
export interface PartContext {
  readonly session: SessionId;
  readonly bus: Bus;
  /** The folder that the session works in. */
  readonly root: string;
  readonly clock: Clock;
  readonly log: LogFunction;
  /** The approved files that extend Oxbow in this place. */
  readonly extensions: ExtensionFiles;
}

export type CreatePart = (context: PartContext) => SessionPart | Promise<SessionPart>;

/** The surface that a feature's part gets: `Settings` are those of its `settings.ts`. */
export interface FeatureContext<Settings = unknown> extends PartContext {
  readonly settings: Settings;
  readonly roots: Roots;
  readonly variables: Variables;
  /** The person who uses the session. */
  readonly person: {
    present(): boolean;
    /** Asks a question that every client of the person shows. */
    ask(question: EventPayloads["PermissionRequested"], signal: AbortSignal): Promise<PersonAnswer>;
  };
  /** Makes the id of a call or a question. */
  newCall(): CallId;
  /** The program runs a script or one prompt: no person reads what it offers. */
  readonly isHeadless: boolean;
  /** The session that started this one, if it is a subagent. */
  readonly parent?: { readonly isOfHook?: true } | undefined;
  /** The messages so far; empty before the first turn. */
  conversation(): readonly Message[];
  /** Calls a model beside the conversation, between two turns. */
  aside(call: AsideCall): Promise<AsideAnswer>;
  safeText(): Promise<SafeText>;
  /** Delimits the text of a file that the user approved. The same text gives the same bytes in every session, so that a provider can cache them. */
  approvedText(): Promise<(block: { readonly source: string; readonly text: string }) => string>;
  /** Tells whether this session may have a tool: by its settings, and as a subagent by its type. */
  mayOffer(tool: Pick<Tool, "name" | "set">): boolean;
  /** Shows hooks a command before it becomes the prompt that `expand` makes; they may refuse it. */
  asPrompt(command: PromptCommand, expand: () => CommandResult | Promise<CommandResult>): Promise<CommandResult>;
  /** Shows the person a message. */
  notify(message: string): void;
  /** Gives the model a text with the next input; `command` is what the person typed for it. */
  give(command: string, text: string): void;
  /** Tells why a path may not be used: by a path permission, or because it is outside of the workspace. */
  refusalOf(access: "read" | "write", path: string): Promise<string | undefined>;
  /** A key for one purpose, made from the user's key. */
  key(purpose: string): Promise<Uint8Array>;
}

export interface PersonAnswer {
  readonly decision: PermissionDecision;
  readonly message?: string;
  /** There was no answer in time. */
  readonly unanswered?: object;
}

/** A command that stands for a prompt. */
export interface PromptCommand {
  /** For hooks: without the slash, and without the namespace of skills. */
  readonly name: string;
  /** The command as the user types it, if it differs. */
  readonly typed?: string;
  /** The text after the name. */
  readonly line: string;
  readonly type?: "slash_command" | "mcp_prompt";
  /** The origin of the command. */
  readonly source: ExtensionScope | "mcp";
  readonly signal: AbortSignal;
}

export interface AsideCall {
  readonly system: string;
  /** `transcript`: the newest of the conversation as text, the results of others delimited. */
  input(transcript: (limits: { readonly chars: number; readonly resultChars: number }) => string): string;
  readonly maxOutputTokens: number;
}

export type AsideAnswer = { readonly text: string } | { readonly failure: Failure } | { readonly cancelled: true };

/** Makes text from outside safe for the model and the disk. */
export interface SafeText {
  redact(text: string): string;
  /** Delimits a text as one that the model must not obey. All texts of one session get the same mark. */
  delimit(block: { readonly source: string; readonly kind?: string; readonly text: string }): string;
  readonly mark: string;
}

export type CreateFeature<Settings = unknown> = (
  context: FeatureContext<Settings>,
) => SessionPart | Promise<SessionPart>;

/**
 * Reviews a call after the permission rules have decided about it: the strictest of several reviews counts, and what Oxbow denies stays
 * denied.
 */
export interface ApprovalGate {
  /** Undefined: no opinion. */
  review(call: ToolCall, about: GateContext): Promise<GateReview | undefined> | GateReview | undefined;
}

export interface GateContext {
  readonly definition: Tool;
  /** The decision so far. */
  readonly verdict: {
    readonly decision: GateReview["decision"];
    readonly decidedBy: string;
    readonly reason: string;
  };
  readonly signal: AbortSignal;
  readonly turn?: Turn;
}

export interface GateReview {
  readonly decision: "allow" | "ask" | "deny";
  /** The name of what decided, for `/why` and the log: `hook PreToolUse`. */
  readonly by: string;
  /** One or two sentences for the model or the user. */
  readonly reason: string;
}

export type CompactionReason = "nearly full" | "too long" | "asked";

export interface PinnedPlace {
  /** About how many characters there is room for. */
  readonly room: number;
  /** The messages that stay: their content needs no repetition. */
  readonly kept: readonly Message[];
}

/** A part of the session that takes part in compactions. */
export interface CompactionWatcher {
  /** Before older messages are replaced: may add to what the summary must keep, or refuse with a reason. */
  before?(compaction: StartedCompaction): Promise<CompactionAnswer | undefined>;
  /** The conversation continues from the summary. */
  after?(compaction: StartedCompaction & { readonly summary: string }): Promise<void>;
}

export interface StartedCompaction {
  readonly reason: CompactionReason;
  /** Words of the user on what the summary must keep. */
  readonly focus: string | undefined;
  /** The whole conversation; `after` gets it shortened. */
  readonly messages: readonly Message[];
  readonly signal: AbortSignal;
  /** Absent between turns. */
  readonly turn?: Turn;
}

export interface CompactionAnswer {
  /** Added to what the user asked the summary to keep. */
  readonly keep?: string;
  /** The conversation stays as it is, for this reason. */
  readonly refuse?: string;
}
