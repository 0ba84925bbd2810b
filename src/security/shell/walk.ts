/** Every simple command of a script, wherever it is nested. */
import type { Assignment, Command, CompoundKind, Redirect, Script, SimpleCommand, Word, WordPart } from "./syntax.js";
import { allParts } from "./word-values.js";

/** Describes where a command stands: in which constructs, from the outermost in. */
export type Place = readonly (CompoundKind | "pipeline" | "substitution")[];

export interface FoundCommand {
  readonly command: SimpleCommand;
  readonly place: Place;
}

/** In the order of the text; the commands inside a word come after the command that holds it. */
export function simpleCommands(script: Script): FoundCommand[] {
  const found: FoundCommand[] = [];
  visitScript(script, [], {
    simple: (command, place) => found.push({ command, place }),
  });
  return found;
}

export interface Visitor {
  simple?(command: SimpleCommand, place: Place): void;
  /** Called for everything but simple commands, before what is in it. */
  command?(command: Exclude<Command, SimpleCommand>, place: Place): void;
  word?(word: Word, place: Place): void;
  redirect?(redirect: Redirect, place: Place): void;
}

export function visitScript(script: Script, place: Place, visitor: Visitor): void {
  for (const { command } of script.items) visitCommand(command, place, visitor);
}

function visitCommand(command: Command, place: Place, visitor: Visitor): void {
  if (command.type === "simple") {
    visitor.simple?.(command, place);
    for (const assignment of command.assignments) visitAssignment(assignment, place, visitor);
    for (const word of command.words) visitWord(word, place, visitor);
    visitRedirects(command.redirects, place, visitor);
    return;
  }
  visitor.command?.(command, place);
  if (command.type === "pipeline") {
    for (const part of command.commands) visitCommand(part, [...place, "pipeline"], visitor);
    return;
  }
  const inside = [...place, command.kind];
  for (const word of command.words) visitWord(word, place, visitor);
  for (const body of command.bodies) visitScript(body, inside, visitor);
  visitRedirects(command.redirects, place, visitor);
}

function visitAssignment(assignment: Assignment, place: Place, visitor: Visitor): void {
  for (const word of assignment.words) visitWord(word, place, visitor);
}

function visitRedirects(redirects: readonly Redirect[], place: Place, visitor: Visitor): void {
  for (const redirect of redirects) {
    visitor.redirect?.(redirect, place);
    visitWord(redirect.target, place, visitor);
  }
}

function visitWord(word: Word, place: Place, visitor: Visitor): void {
  visitor.word?.(word, place);
  visitParts(word.parts, place, visitor);
}

function visitParts(parts: readonly WordPart[], place: Place, visitor: Visitor): void {
  for (const part of allParts(parts)) {
    if (part.type === "substitution") visitScript(part.script, [...place, "substitution"], visitor);
  }
}
