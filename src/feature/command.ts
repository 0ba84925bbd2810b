/**
 * One command, for every place that can run it: the slash line, `oxbow NAME`, a script, shell completion and the help. The
 * description (`CommandSpec`) is data and loads nothing; the part of the runtime that owns the subject adds `run`.
 */
import type { Clock } from "../base/clock.js";
import type { ExtensionFile, ExtensionKind } from "../base/extension-files.js";
import type { Variables } from "../base/variables.js";
import type { Model, PreparedCall } from "../engine/ports.js";
import type { CommandKind, CommandPayloads } from "../protocol/commands.js";
import type { InputContent } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { JsonValue } from "../protocol/json.js";
import type { Roots } from "../system/xdg-paths.js";
import type { Flag, ParsedFlags } from "./flags.js";
import type { DeclaredSettings, SettingsOf } from "./setting.js";

/** The source of the values of an argument, for completion; a list is a fixed set of choices. */
export type CompletionSource =
  | "command"
  | "file"
  | "folder"
  | "model"
  | "profile"
  | "program"
  | "provider"
  | "route"
  | "session";

export interface Argument {
  /** As the usage shows it: `NAME`. */
  readonly name: string;
  /** `line` is the rest of the line exactly as it was typed, quotation marks included. */
  readonly kind: "text" | "line" | "number" | "path" | "choice";
  /** `in a session`: a conversation has a default for it, `oxbow NAME` does not. */
  readonly optional?: true | "in a session";
  /** It takes all remaining words: as a `list` of values, or as one `text`. */
  readonly rest?: "list" | "text";
  readonly complete?: CompletionSource | readonly string[];
  /** The message when it is missing; default: its name and the usage. */
  readonly missing?: string;
}

/** `agents in the shell`: it only reads, so an agent may use `oxbow NAME`; in a session only people may. */
export type CommandUser = "people" | "agents" | "agents in the shell";

/**
 * `session`: this session alone, with what its rules and its sandbox allow. `user`: other sessions, the engine, what all sessions share, or
 * anything that runs with the rights of the user. A client whose token is limited may run only the former.
 */
export type CommandReach = "session" | "user";

/** `in a client`: only a client can do it, the engine cannot. `without a session`: `oxbow NAME` exists. */
export type CommandPlace = "during a turn" | "between turns" | "without a session" | "in a client";

export const EVERYONE: readonly CommandUser[] = ["people", "agents"];
export const READERS: readonly CommandUser[] = ["people", "agents in the shell"];
export const EVERYWHERE: readonly CommandPlace[] = ["during a turn", "between turns", "without a session"];
export const IN_SESSION: readonly CommandPlace[] = ["during a turn", "between turns"];
export const BETWEEN_TURNS: readonly CommandPlace[] = ["between turns"];
/** Only `oxbow NAME`. */
export const IN_SHELL: readonly CommandPlace[] = ["without a session"];
/** A shell flag of commands about a folder. */
export const FOLDER: Flag = {
  name: "cwd",
  value: "DIR",
  complete: "folder",
  help: "the folder (default: the current one)",
};

/** The exit codes that a command may give `oxbow NAME` besides 0. */
export const COMMAND_EXIT = { failed: 1, noModel: 6, cancelled: 130 } as const;

export interface CommandSpec {
  /** `cost`, or `NAMESPACE:ACTION`, which people also type as two words: `/route add`, `oxbow route add`. */
  readonly name: string;
  /** Other full names. The name of the namespace alone makes this its default action. */
  readonly aliases?: readonly string[];
  /** One line without a full stop. */
  readonly summary: string;
  /** Only where the generated usage would be wrong: in a conversation, and of `oxbow NAME`. */
  readonly usage?: string;
  readonly shellUsage?: string;
  readonly arguments?: readonly Argument[];
  readonly flags?: readonly Flag[];
  /** Flags that `oxbow NAME` has besides, such as `--cwd`. */
  readonly shellFlags?: readonly Flag[];
  /** Default: people. */
  readonly users?: readonly CommandUser[];
  readonly places: readonly CommandPlace[];
  /** Default: `user`. */
  readonly reaches?: CommandReach;
  /** The command of the protocol that does the same: a client that may not send that one may not run this one. */
  readonly sends?: CommandKind;
  /** People type its name with colons only: `/git:fix`, because `/git fix` is the command `git`. */
  readonly withColons?: true;
}

/** The words of a command, by the names of its arguments and flags. */
export interface CommandArguments {
  text(name: string): string | undefined;
  number(name: string): number | undefined;
  list(name: string): readonly string[];
  hasFlag(name: string): boolean;
  flag(name: string): string | undefined;
  /** The values of a flag that may be given several times. */
  flags(name: string): readonly string[];
}

export interface CommandContext {
  /** The way in which commands are written there: `/cost` or `oxbow cost`. */
  readonly surface: "slash" | "shell";
  readonly signal: AbortSignal;
  /** Shows the progress; replaces the message before it. */
  progress(message: string): void;
  /** Shows the user a message that is not part of the answer. */
  warn(message: string): void;
  /** Shows text ahead of the answer's, as fast as it is read. */
  write(text: string): Promise<void>;
  /** Asks the user; absent if no user can answer. */
  confirm?(question: string): Promise<boolean>;
  /** Opens a text in the user's editor; undefined if it was not changed. Absent in a conversation. */
  edit?(text: string): Promise<string | undefined>;
  /** The caller may do less than the user: it may use this session, and send these commands. Absent: everything. */
  readonly limits?: { may(kind: CommandKind): boolean } | undefined;
  /** The part of the answer that the caller uses; default: both. A command may leave out the other part if that part is slow to make. */
  readonly wants?: "text" | "value";
  /** The screen that shows the text; absent for a pipe or a program. */
  readonly screen?: { readonly width: number | undefined; readonly color: boolean };
}

export interface CommandAnswer {
  readonly text: string;
  /** The same as data: what `--json` prints and a REST route returns. */
  readonly value: JsonValue;
  /** The exit code of `oxbow NAME`; default 0. */
  readonly exitCode?: number;
  /** The client continues with this session. */
  readonly follow?: CommandPayloads["CreateSession"];
  /** A turn begins with this: the command stands for a prompt. */
  readonly turn?: CommandTurn;
}

export interface CommandTurn {
  /** The input as the user sees it: usually the command as the user typed it. */
  readonly input: readonly InputContent[];
  /** A text that the model gets with it. */
  readonly notice?: string;
  /** Oxbow makes these calls first, before the model answers. */
  readonly calls?: readonly PreparedCall[];
  /** The model of this turn alone. */
  readonly model?: Model;
  /** The real path of the file with the command: its hooks run in this turn alone. */
  readonly commandFile?: string;
}

export type CommandResult = CommandAnswer | { readonly failure: Failure };

export type RunCommand = (args: CommandArguments, context: CommandContext) => CommandResult | Promise<CommandResult>;

export interface Command extends CommandSpec {
  readonly run: RunCommand;
  /** The command is an alias: this returns the line that runs instead. */
  readonly expand?: (line: string) => Expansion | { readonly failure: Failure };
}

export interface Expansion {
  readonly kind: "command" | "prompt";
  /** A command begins with its slash. */
  readonly text: string;
  /** The user did not write the line, so it may only do what agents may do. */
  readonly byProject: boolean;
  /** May refuse the prompt, or add to it. */
  readonly review?: (context: CommandContext, expand: () => CommandResult) => Promise<CommandResult>;
}

export function mayUse({ users = ["people"] }: Pick<CommandSpec, "users">, user: CommandUser): boolean {
  return users.includes(user);
}

/** The namespace of `route:add`; undefined for a plain name. */
export function namespaceOf(name: string): string | undefined {
  const colon = name.indexOf(":");
  return colon === -1 ? undefined : name.slice(0, colon);
}

/** The name as people type it: `/route add`, `oxbow route add`. */
export function spell(name: string, { surface }: Pick<CommandContext, "surface">): string {
  return `${surface === "slash" ? "/" : "oxbow "}${name.replaceAll(":", " ")}`;
}

/** Tells whether it can be typed there; a command of a client counts as one of the conversation. */
export function worksOn({ places }: CommandSpec, { surface }: Pick<CommandContext, "surface">): boolean {
  return places.some((place) => (place === "without a session") === (surface === "shell"));
}

/** The command with its name in another namespace: `creds add` is `auth set`. */
export function inNamespace<C extends CommandSpec>(spec: C, namespace: string): C {
  const own = [spec.name, ...(spec.aliases ?? [])].find((name) => name.startsWith(`${namespace}:`));
  return own === undefined ? spec : { ...spec, name: own };
}

const PERMISSION_WORDS: ReadonlySet<string> = new Set(["permissions", "safemode", "plan", "mode", "config"]);

/** Tells whether a command is one of those that show or change what may run without asking: people type these themselves. */
export function isAboutPermissions({ name }: Pick<CommandSpec, "name">): boolean {
  return PERMISSION_WORDS.has(namespaceOf(name) ?? name);
}

/** Plain data as JSON: TypeScript does not accept an interface as `JsonValue`. */
export function asValue(data: object): JsonValue {
  return data as JsonValue;
}

export function refuse(detail: string): { readonly failure: Failure } {
  return { failure: failure("InvalidInput", { detail }) };
}

/** A command that still lacks what it works on, so that its description loads nothing else: the session or `oxbow NAME` supplies the port. */
export interface CommandOf<Port> extends CommandSpec {
  run(args: CommandArguments, port: Port, context: CommandContext): CommandResult | Promise<CommandResult>;
}

/** The commands with their port, which is opened with the first one that runs. */
export function withPort<Port>(
  commands: readonly CommandOf<Port>[],
  open: () => Port | Promise<Port>,
): readonly Command[] {
  return commands.map((command) => ({
    ...command,
    run: async (args, context) => command.run(args, await open(), context),
  }));
}

/** The commands of a subject, as its `commands.ts` exports them. */
export interface Subject {
  /** The first word of their names, and what the help says about it. */
  readonly name: string;
  readonly summary: string;
  /** The heading of `/help` that has it. */
  readonly heading: string;
  readonly specs: readonly CommandSpec[];
  /** `oxbow NAME`; absent if the subject works in a session alone. */
  readonly shell?: {
    /** The text of the help below the usage. */
    readonly about: string;
    readonly more?: string;
    /** Its actions; absent: those of the subject that work without a session. */
    readonly specs?: readonly CommandSpec[];
    /** Absent if it needs another feature: the command line supplies it. */
    readonly open?: OpenShell;
  };
}

export type OpenShell = (place: ShellPlace) => Promise<{
  readonly commands: readonly Command[];
  readonly terminalCommands?: readonly TerminalCommand[];
  close?(): Promise<void> | void;
}>;

/** A command that talks with the person itself: it reads the keyboard, prints and handles signals. */
export interface TerminalCommand extends CommandSpec {
  readonly take: (args: CommandArguments) => Promise<number>;
}

/** The place in which `oxbow NAME` works, outside a session. */
export interface ShellPlace {
  readonly flags: ParsedFlags;
  readonly variables: Variables;
  readonly roots: Roots;
  readonly clock: Clock;
  /** The folder of `--cwd`, free of links. */
  root(): Promise<string>;
  /** The user's own settings. */
  settings<D extends DeclaredSettings>(declared: D): Promise<SettingsOf<D>>;
  /** The approved files of that folder; `warn` gets a line for each that is not approved. */
  approved(kinds: readonly ExtensionKind[], warn?: (note: string) => void): Promise<readonly ExtensionFile[]>;
  redact(): Promise<(text: string) => string>;
  /** Shows the person a message on stderr. */
  notify(message: string): void;
  /** A key for one purpose, made from the user's key. */
  key(purpose: string): Promise<Uint8Array>;
}
