/** Usage lines and help, made from the descriptions of commands. */
import { type Argument, type CommandContext, type CommandSpec, namespaceOf, spell } from "./command.js";

type Surface = Pick<CommandContext, "surface">;

/** `/route add NAME MODEL…`. */
export function usageOf(spec: CommandSpec, context: Surface): string {
  if (spec.usage !== undefined && context.surface === "slash") return spec.usage;
  return [spell(spec.name, context), argumentsText(spec), ...flagsHint(spec, context)].filter(Boolean).join(" ");
}

function flagsHint({ flags = [], shellFlags = [] }: CommandSpec, { surface }: Surface): readonly string[] {
  return flags.length + (surface === "shell" ? shellFlags.length : 0) > 0 ? ["[flags]"] : [];
}

function argumentsText({ arguments: all = [] }: CommandSpec): string {
  return all.map(argumentText).join(" ");
}

function argumentText({ name, kind, optional, rest, complete }: Argument): string {
  const choices = kind === "choice" && typeof complete === "object" ? complete.join(" | ") : name;
  const text = `${choices}${rest === "list" ? "…" : ""}`;
  if (optional) return `[${text}]`;
  return kind === "choice" ? `(${text})` : text;
}

export interface HelpLine {
  readonly usage: string;
  readonly summary: string;
}

/** One line for each command, and one for each namespace that has a summary of its own. */
export function helpOf(
  commands: readonly CommandSpec[],
  namespaces: ReadonlyMap<string, string>,
  context: Surface,
): readonly HelpLine[] {
  const lines: HelpLine[] = [];
  const seen = new Set<string>();
  for (const command of commands) {
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

/** `/route [list | add NAME MODEL… | remove NAME]`; the brackets say that the namespace alone works too. */
export function namespaceUsage(namespace: string, commands: readonly CommandSpec[], context: Surface): string {
  const own = commands.filter(({ name }) => namespaceOf(name) === namespace);
  const actions = own.map((spec) =>
    [spec.name.slice(namespace.length + 1).replaceAll(":", " "), argumentsText(spec)].filter(Boolean).join(" "),
  );
  const alone = own.some(({ aliases = [] }) => aliases.includes(namespace));
  const text = actions.join(" | ");
  return `${spell(namespace, context)} ${alone ? `[${text}]` : text}`;
}

const WIDEST = 34;

/** Two columns; a long usage stands on a line of its own. */
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
