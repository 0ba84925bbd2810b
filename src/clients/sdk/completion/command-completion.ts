/**
 * `/` completes commands, then their arguments.
 *
 * 1. `/` lists the top level: plain commands and namespaces. `/sk` continues to `/skills:`, `/skills:go` to one skill or to
 *    the list of those that match.
 * 2. A command is also found by a part of its name: `/add` finds `/route:add`.
 * 3. Both spellings work: `/route:add` and `/route add`.
 */

import { looseScore } from "../../../base/loose-match.js";
import type { ArgumentInfo, CommandInfo } from "../../../protocol/queries.js";
import { readSlashLine } from "../../../protocol/slash-command.js";
import type { CompletionSource, Place, Suggestion, Suggestions } from "./completion.js";

export interface Value {
  readonly value: string;
  readonly about?: string;
  /** Another name that finds it, such as the title of a session. */
  readonly title?: string;
}

export interface CommandSource {
  /** A promise during the first request; the client requests them again when skills change. */
  commands(): readonly CommandInfo[] | Promise<readonly CommandInfo[]>;
  /** Models, sessions, routes and so on; `typed` is for searches such as files. */
  values(source: string, typed: string): readonly Value[] | Promise<readonly Value[]>;
}

/** `permissions safemode on`. */
const MOST_WORDS = 3;
const MOST_VALUES = 50;

export function commandCompletion(source: CommandSource): CompletionSource {
  return {
    suggest({ line, column, isFirstLine }: Place) {
      const before = line.slice(0, column);
      if (!isFirstLine || readSlashLine(before) === undefined) return undefined;
      const answer = (commands: readonly CommandInfo[]) =>
        /\s/.test(before) ? argumentsAt(before, commands, source) : namesAt(before.slice(1), commands);
      const commands = source.commands();
      return commands instanceof Promise ? commands.then(answer) : answer(commands);
    },
  };
}

function namesAt(typed: string, commands: readonly CommandInfo[]): Suggestions {
  const all = candidates(typed, commands);
  const items = typed.endsWith(":") ? all : rank(typed, all);
  const exact = commands.find(({ name, aliases = [] }) => name === typed || aliases.includes(typed));
  if (exact === undefined) return { start: 0, items };
  return { start: 0, items, usage: `${exact.usage}: ${exact.summary}`, complete: true };
}

interface Candidate extends Suggestion {
  /** The names to match. */
  readonly names: readonly string[];
}

/** Without a word, the top level; with one, also the content of the namespaces. */
function candidates(typed: string, commands: readonly CommandInfo[]): readonly Candidate[] {
  const colon = typed.lastIndexOf(":");
  const scope = typed.slice(0, colon + 1);
  const inside = commands.filter(({ name }) => name.startsWith(scope));
  const groups = new Map<string, CommandInfo[]>();
  const top: (CommandInfo | string)[] = [];
  for (const command of inside) {
    const rest = command.name.slice(scope.length);
    const next = rest.indexOf(":");
    const group = next === -1 ? undefined : rest.slice(0, next);
    if (group === undefined) top.push(command);
    else {
      if (!groups.has(group)) top.push(group);
      groups.set(group, [...(groups.get(group) ?? []), command]);
    }
  }
  const items = top.map((each) => {
    if (typeof each !== "string") return commandItem(each);
    const [first, ...others] = groups.get(each) ?? [];
    // A namespace of one command is no choice.
    if (first !== undefined && others.length === 0 && groups.delete(each)) return commandItem(first);
    return namespaceItem(`${scope}${each}`, first === undefined ? [] : [first, ...others]);
  });
  // The engine lists the top level with what a person needs most first.
  if (scope !== "") items.sort((one, other) => (one.value < other.value ? -1 : 1));
  if (typed === scope) return items;
  return [...items, ...[...groups.values()].flat().map(commandItem)];
}

function namespaceItem(name: string, own: readonly CommandInfo[]): Candidate {
  const actions = own.map((command) => command.name.slice(name.length + 1).split(":")[0]);
  const description = [...new Set(actions)].join(", ");
  return { value: `/${name}:`, label: `/${name}:`, description, next: "more", names: [name] };
}

function commandItem(command: CommandInfo): Candidate {
  const needs = command.arguments?.some(({ optional }) => optional !== true) === true;
  const hint = command.arguments?.map(argumentText).join(" ") ?? "";
  const value = `/${command.name}`;
  const names = [command.name, ...(command.aliases ?? [])];
  return { value, label: value, hint, description: command.summary, next: needs ? "stay" : "send", names };
}

function argumentText({ name, optional, rest, choices }: ArgumentInfo): string {
  const values = choices !== undefined && choices.length > 1 ? choices.join("|") : name;
  const text = `${values}${rest === true ? "…" : ""}`;
  return optional === true ? `[${text}]` : text;
}

/** Names that begin with the typed text first, the shortest before others, then by the quality of the match. */
function rank(typed: string, all: readonly Candidate[]): readonly Suggestion[] {
  if (typed === "") return all;
  const word = typed.toLowerCase();
  const scored = all.flatMap((candidate, order) => {
    const score = Math.min(...candidate.names.map((name) => scoreOf(word, name.toLowerCase())));
    return score === Number.POSITIVE_INFINITY ? [] : [{ candidate, order, score }];
  });
  // Equal scores keep their order: a namespace comes before its content.
  scored.sort((a, b) => a.score - b.score || a.order - b.order);
  return scored.map(({ candidate }) => candidate);
}

function scoreOf(word: string, name: string): number {
  if (name.startsWith(word)) return name.length - 10_000;
  return looseScore(word, name) ?? Number.POSITIVE_INFINITY;
}

function argumentsAt(
  before: string,
  commands: readonly CommandInfo[],
  source: CommandSource,
): Suggestions | undefined | Promise<Suggestions | undefined> {
  const words = before.slice(1).split(/\s+/);
  const typed = words.pop() ?? "";
  const start = before.length - typed.length;
  const actions = actionsAfter(words, commands);
  const found = resolve(words, commands);
  if (found === undefined) return actions.length > 0 ? { start, items: rankValues(typed, actions) } : undefined;
  const { command, given } = found;
  const usage = `${command.usage}: ${command.summary}`;
  const all = command.arguments ?? [];
  const argument = all[given.length] ?? (all.at(-1)?.rest === true ? all.at(-1) : undefined);
  const answer = (values: readonly Value[]): Suggestions => {
    const further = rankValues(typed, given.length === 0 ? actions : []);
    const items = [...further, ...rankValues(typed, values.map(valueItem))].slice(0, MOST_VALUES);
    return { start, items, usage, ...(further.length === 0 && takesAnyText(argument) && { complete: true }) };
  };
  if (argument?.choices !== undefined) return answer(argument.choices.map((value) => ({ value })));
  if (argument?.source === undefined) return answer([]);
  const values = source.values(argument.source, typed);
  return values instanceof Promise ? values.then(answer) : answer(values);
}

/** A new file, a pattern or a sentence is as good as an entry of the list, so Enter must not replace it by a similar one. */
function takesAnyText(argument: ArgumentInfo | undefined): boolean {
  if (argument?.choices !== undefined) return argument.rest === true;
  return argument?.source !== undefined && !CLOSED_SOURCES.has(argument.source);
}

const CLOSED_SOURCES: ReadonlySet<string> = new Set(["model", "route", "provider", "profile"]);

function valueItem({ value, about, title }: Value): Candidate {
  const description = about === undefined ? {} : { description: about };
  const names = title === undefined ? [value] : [value, title];
  return { value, label: value, ...description, next: value.endsWith("/") ? "more" : "stay", names };
}

/** The next words of names that begin with these: `/route ` continues with `add`. */
function actionsAfter(words: readonly string[], commands: readonly CommandInfo[]): readonly Candidate[] {
  const prefix = `${words.join(":")}:`;
  const seen = new Set<string>();
  return commands.flatMap((command) => {
    const name = command.name.startsWith(prefix) ? command.name.slice(prefix.length).split(":")[0] : undefined;
    if (name === undefined || seen.has(name)) return [];
    seen.add(name);
    return [{ value: name, label: name, description: command.summary, next: "stay" as const, names: [name] }];
  });
}

function rankValues(typed: string, all: readonly Candidate[]): readonly Suggestion[] {
  return rank(typed, all).slice(0, MOST_VALUES);
}

/** The command that the words name, and the arguments that follow; the longest name wins. */
function resolve(
  words: readonly string[],
  commands: readonly CommandInfo[],
): { readonly command: CommandInfo; readonly given: readonly string[] } | undefined {
  for (let used = Math.min(MOST_WORDS, words.length); used > 0; used--) {
    const name = words.slice(0, used).join(":");
    const command = commands.find((each) => each.name === name || each.aliases?.includes(name) === true);
    if (command !== undefined) return { command, given: words.slice(used).filter((word) => !word.startsWith("-")) };
  }
  return undefined;
}
