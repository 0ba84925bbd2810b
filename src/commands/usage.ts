/** Usage lines and help, made from the descriptions of commands. */
import {
  type Argument,
  type CommandContext,
  type CommandSpec,
  inNamespace,
  namespaceOf,
  spell,
  worksOn,
} from "../feature/command.js";

type Surface = Pick<CommandContext, "surface">;

/** `/route add NAME MODEL…`. */
export function usageOf(spec: CommandSpec, context: Surface): string {
  const written = context.surface === "slash" ? spec.usage : spec.shellUsage;
  if (written !== undefined) return written;
  const parts = [spell(spec.name, context), argumentsText(spec, context), ...flagsHint(spec, context)];
  return parts.filter(Boolean).join(" ");
}

function flagsHint({ flags = [], shellFlags = [] }: CommandSpec, { surface }: Surface): readonly string[] {
  return flags.length + (surface === "shell" ? shellFlags.length : 0) > 0 ? ["[flags]"] : [];
}

function argumentsText({ arguments: all = [] }: CommandSpec, context: Surface): string {
  return all.map((argument) => argumentText(argument, context)).join(" ");
}

function argumentText({ name, kind, optional, rest, complete }: Argument, { surface }: Surface): string {
  const choices = kind === "choice" && typeof complete === "object" ? complete.join(" | ") : name;
  const text = `${choices}${rest === "list" ? "…" : ""}`;
  if (optional === true || (optional && surface === "slash")) return `[${text}]`;
  return kind === "choice" ? `(${text})` : text;
}

export interface HelpLine {
  readonly usage: string;
  readonly summary: string;
}

/** One line for each command, and one for each namespace that has its own summary. */
export function helpOf(
  commands: readonly CommandSpec[],
  namespaces: ReadonlyMap<string, string>,
  context: Surface,
): readonly HelpLine[] {
  const lines: HelpLine[] = [];
  const seen = new Set<string>();
  for (const command of commands.filter((each) => worksOn(each, context))) {
    const namespace = namespaceOf(command.name);
    const summary = namespace === undefined ? undefined : namespaces.get(namespace);
    if (namespace === undefined || summary === undefined) {
      lines.push({ usage: usageOf(command, context), summary: command.summary });
    } else if (!seen.has(namespace)) {
      seen.add(namespace);
      lines.push({ usage: namespaceUsage(namespace, commands, context), summary });
    }
  }
  return lines;
}

/** For a namespace with more actions, the help shows only their names. */
const MOST_ACTIONS = 7;
/** For a namespace with even more, such as the skills of a user, the help shows only this many names. */
const MOST_NAMES = 20;

/** `/route [list | add NAME MODEL… | remove NAME]`; the brackets mean that the namespace alone works too. */
export function namespaceUsage(namespace: string, commands: readonly CommandSpec[], context: Surface): string {
  const own = commands
    .map((spec) => inNamespace(spec, namespace))
    .filter(({ name }) => namespaceOf(name) === namespace)
    .filter((spec) => worksOn(spec, context));
  const isShort = own.length > MOST_ACTIONS;
  const actions = own.map((spec) => {
    const name = spec.name.slice(namespace.length + 1).replaceAll(":", " ");
    return isShort ? name : [name, argumentsText(spec, context)].filter(Boolean).join(" ");
  });
  const alone = own.some(({ aliases = [] }) => aliases.includes(namespace));
  const more = actions.length > MOST_NAMES ? ["…"] : [];
  const text = [...actions.slice(0, MOST_NAMES), ...more].join(" | ");
  return `${spell(namespace, context)} ${alone ? `[${text}]` : text}`;
}

const WIDEST = 34;

/** Two columns; a long usage gets its own line. */
export function helpColumns(lines: readonly HelpLine[], indent = ""): string {
  const width = Math.min(WIDEST, Math.max(...lines.map(({ usage }) => usage.length)));
  return lines
    .map(({ usage, summary }) =>
      usage.length > width
        ? `${indent}${usage}\n${indent}${" ".repeat(width)}  ${summary}`
        : `${indent}${usage.padEnd(width)}  ${summary}`,
    )
    .join("\n");
}
