/** The commands of a session, or of `oxbow`. Each part registers its own; the last one of a name wins. */
import { groupDigits } from "../base/group-digits.js";
import { nearest } from "../base/nearest.js";
import { wordsOf } from "../base/shell-word.js";
import {
  type Command,
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  type Expansion,
  inNamespace,
  isAboutPermissions,
  mayUse,
  namespaceOf,
  refuse,
  spell,
  worksOn,
} from "../feature/command.js";
import { text } from "../protocol/content.js";
import type { Failure } from "../protocol/errors.js";
import { parseLine } from "./arguments.js";
import { helpColumns, helpOf, namespaceUsage } from "./usage.js";

/** An alias may stand for another alias; this limit ends a cycle. */
const MOST_EXPANSIONS = 20;
/** The most words that a name can have: `permissions safemode on`. */
const MOST_WORDS = 3;

/** Of a line: to read one takes time in proportion to its length, and other clients wait for it. */
const MOST_LINE = 64 * 1024;

/** The headings above the commands of `/help`. */
export interface HelpGroups {
  readonly headings: readonly string[];
  headingOf(command: CommandSpec): string;
}

export class CommandRegistry<C extends CommandSpec = Command> {
  readonly #commands = new Map<string, C>();
  readonly #byAlias = new Map<string, string>();
  readonly #namespaces = new Map<string, string>();
  #ofProgram: ReadonlySet<string> = new Set();

  register(...commands: readonly C[]): this {
    for (const command of commands) {
      this.#commands.set(command.name, command);
      for (const alias of command.aliases ?? []) this.#byAlias.set(alias, command.name);
    }
    return this;
  }

  /** One line of help for all commands of a namespace. */
  describe(namespaces: Readonly<Record<string, string>>): this {
    for (const [name, summary] of Object.entries(namespaces)) this.#namespaces.set(name, summary);
    return this;
  }

  /** First words that only `oxbow NAME` has, and no list here: the refusal says where it works. */
  knowProgram(names: Iterable<string>): this {
    this.#ofProgram = new Set(names);
    return this;
  }

  find(name: string): C | undefined {
    const found = this.#commands.get(name) ?? this.#commands.get(this.#byAlias.get(name) ?? "");
    return found ?? (name === name.toLowerCase() ? undefined : this.find(name.toLowerCase()));
  }

  list(): readonly C[] {
    return [...this.#commands.values()];
  }

  /** The first words of names, as people type them. */
  names(): readonly string[] {
    const all = this.list().flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    return [...new Set(all.map((name) => namespaceOf(name) ?? name))];
  }

  /** The actions of a namespace. */
  actions(namespace: string): readonly string[] {
    return actionsOf(this.list(), namespace);
  }

  /** The command that the first words name, and how many of them do. */
  resolve(
    words: readonly string[],
    context: Pick<CommandContext, "surface">,
  ): { readonly command: C; readonly used: number } | { readonly failure: Failure } {
    for (let used = Math.min(MOST_WORDS, words.length); used > 0; used--) {
      const command = this.find(words.slice(0, used).join(":"));
      if (command === undefined || (used > 1 && command.withColons)) continue;
      const isAlone = used === 1 && this.actions(words[0] ?? "").length > 0;
      const isMistyped = isAlone && words.length > 1 && !words[1]?.startsWith("-") && takesNoWords(command);
      return isMistyped ? this.#unknownAction(words, context) : { command, used };
    }
    const [first = ""] = words;
    if (this.actions(first).length > 0) return this.#unknownAction(words, context);
    if (this.#ofProgram.has(first)) return refuse(onlyOutside({ name: first }, context));
    const near = nearest(first, this.names());
    const advice =
      near === undefined ? `${spell("help", context)} lists them.` : `Did you mean ${spell(near, context)}?`;
    return refuse(`There is no command ${spell(first, context)}. ${advice}`);
  }

  #unknownAction([namespace = "", typed]: readonly string[], context: Pick<CommandContext, "surface">) {
    const own = this.list().filter(({ name }) => namespaceOf(name) === namespace);
    const [elsewhere] = own.some((spec) => worksOn(spec, context)) ? [] : own;
    if (elsewhere !== undefined) return refuse(onlyOutside(elsewhere, context));
    const usage = namespaceUsage(namespace, this.list(), context);
    if (typed === undefined) return refuse(`Usage: ${usage}`);
    const near = nearest(typed, this.actions(namespace));
    const advice = near === undefined ? `Usage: ${usage}` : `Did you mean '${spell(`${namespace}:${near}`, context)}'?`;
    return refuse(`There is no '${spell(namespace, context)} ${typed}'. ${advice}`);
  }

  help(context: Pick<CommandContext, "surface">, groups?: HelpGroups): string {
    if (groups === undefined) return helpColumns(helpOf(this.list(), this.#namespaces, context));
    const parts = groups.headings.map((heading) => {
      const own = this.list().filter((command) => groups.headingOf(command) === heading);
      const lines = helpOf(own, this.#namespaces, context);
      return lines.length === 0 ? "" : `${heading}\n${helpColumns(lines, "  ")}`;
    });
    return parts.filter((part) => part !== "").join("\n\n");
  }
}

/** The actions that commands have in a namespace, by name or alias. */
export function actionsOf(specs: readonly CommandSpec[], namespace: string): readonly string[] {
  const all = specs.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const own = all.filter((name) => namespaceOf(name) === namespace);
  return [...new Set(own.map((name) => name.slice(namespace.length + 1).split(":")[0] ?? ""))];
}

/** If the default action of a namespace takes no words, a word after the namespace is a mistyped action. */
function takesNoWords({ arguments: all = [] }: CommandSpec): boolean {
  return all.length === 0;
}

export interface SlashCaller {
  readonly identity: "human" | "agent";
  readonly context: CommandContext;
  /** A turn runs. */
  readonly busy: boolean;
  /** The line is from an alias of a project. */
  readonly byProject?: boolean;
  /** Says how many aliases led here. */
  readonly expansions?: number;
}

/** Runs the line after the slash: `cost`, `route add fast openai:gpt-5`. */
export async function runSlash(registry: CommandRegistry, line: string, caller: SlashCaller): Promise<CommandResult> {
  const { context } = caller;
  if (line.length > MOST_LINE) {
    return refuse(
      `A command has at most ${groupDigits(MOST_LINE)} characters. Save the text in a file and name the file.`,
    );
  }
  const words = wordsOf(line);
  const found = registry.resolve(
    words.slice(0, MOST_WORDS).map(({ value }) => value),
    context,
  );
  if ("failure" in found) return found;
  const { command, used } = found;
  const refusal = refusalOf(command, caller);
  if (refusal !== undefined) return refuse(refusal);
  const rest = line.slice(words[used - 1]?.end).trim();
  if (command.expand !== undefined) return runExpanded(registry, command.expand(rest), caller);
  const args = parseLine(command, rest);
  if ("failure" in args) return args;
  const beyond = command.flags?.find(({ name, reaches }) => reaches === "user" && args.hasFlag(name));
  if (context.limits !== undefined && beyond !== undefined)
    return refuse(`${spell(command.name, context)} --${beyond.name} needs a token without limits.`);
  return command.run(args, context);
}

/** The caller needs the right to run what the line stands for, too. */
async function runExpanded(
  registry: CommandRegistry,
  expanded: Expansion | { readonly failure: Failure },
  caller: SlashCaller,
): Promise<CommandResult> {
  if ("failure" in expanded) return expanded;
  const { expansions = 0 } = caller;
  if (expansions >= MOST_EXPANSIONS) return refuse("The aliases form a cycle, or a chain that is too long.");
  if (expanded.kind === "command") {
    const byProject = caller.byProject || expanded.byProject;
    return runSlash(registry, expanded.text.slice(1), { ...caller, byProject, expansions: expansions + 1 });
  }
  const expand = () => ({
    ...{ text: "", value: { prompt: expanded.text } },
    turn: { input: [text(expanded.text)] },
  });
  return expanded.review?.(caller.context, expand) ?? expand();
}

function refusalOf(command: Command, caller: SlashCaller): string | undefined {
  const { identity, context, busy, byProject = false, expansions = 0 } = caller;
  const { name, places, reaches, sends } = command;
  const typed = spell(name, context);
  if (identity === "agent" && !mayUse(command, "agents")) return `${typed} is for people, not for agents.`;
  const { limits } = context;
  // A plugin may have left it out: what says nothing is refused.
  if (limits !== undefined && reaches !== "session") return `${typed} needs a token without limits.`;
  if (limits !== undefined && sends !== undefined && !limits.may(sends)) return `${typed} needs a token for ${sends}.`;
  if (expansions > 0 && isAboutPermissions(command)) return `${typed} is about permissions, so an alias cannot run it.`;
  if (byProject && !mayUse(command, "agents"))
    return `${typed} is only for people, so an alias of a project cannot run it.`;
  if (!worksOn(command, context)) {
    return onlyOutside(command, context);
  }
  if (places.includes("in a client")) {
    const shell = places.includes("without a session") ? ` Or run '${spell(name, { surface: "shell" })}'.` : "";
    return `${typed} works only in a conversation in the terminal client: start it with 'oxbow', without --plain.${shell}`;
  }
  if (busy && !places.includes("during a turn")) return `${typed} does not work during a turn. Wait until it ends.`;
  return undefined;
}

function onlyOutside({ name }: Pick<CommandSpec, "name">, context: Pick<CommandContext, "surface">): string {
  return `${spell(name, context)} works only outside a conversation: ${spell(name, { surface: "shell" })}`;
}

/** `help` of a registry: all commands, or those that a name stands for. */
export function helpCommand(spec: CommandSpec, registry: CommandRegistry, groups?: HelpGroups): Command {
  return {
    ...spec,
    run: (args, context) => {
      const topic = args.list("COMMAND");
      if (topic.length > 0) return helpOn(topic, registry, context);
      const text = `${registry.help(context, groups)}\n\nOxbow sends any other input to the model. Ctrl-C cancels the running turn.`;
      return { text, value: registry.list().map(describe) };
    },
  };
}

function helpOn(topic: readonly string[], registry: CommandRegistry, context: CommandContext): CommandResult {
  const words = topic.map((word) => word.replace(/^\//, ""));
  const [first = ""] = words;
  const own =
    words.length > 1
      ? []
      : registry
          .list()
          .map((spec) => inNamespace(spec, first))
          .filter((spec) => namespaceOf(spec.name) === first && worksOn(spec, context));
  if (own.length > 0) return { text: helpColumns(helpOf(own, new Map(), context)), value: own.map(describe) };
  const found = registry.resolve(words, context);
  if ("failure" in found) return found;
  return { text: helpColumns(helpOf([found.command], new Map(), context)), value: describe(found.command) };
}

function describe({
  name,
  aliases = [],
  summary,
  arguments: wanted = [],
  flags = [],
  users = ["people"],
  places,
}: CommandSpec) {
  return {
    name,
    aliases,
    summary,
    arguments: wanted.map((argument) => ({ ...argument })),
    flags: flags.map((flag) => ({ ...flag })),
    users,
    places,
  };
}
