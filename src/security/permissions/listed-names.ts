/**
 * Secrets that a command shows without naming them: another program lists the names (`find . | xargs cat`, `cat $(git ls-files)`), or
 * they come from the globs of a loop. `tree-problem.ts` knows the same for commands that only read.
 */
import type { Command, Script, SimpleCommand, Word } from "../shell/syntax.js";
import { type Place, visitScript } from "../shell/walk.js";
import { fixedValue, globValue, hasGlob } from "../shell/word-values.js";
import { programName, unwrapQuietly } from "../shell/wrappers.js";
import type { Whereabouts } from "./command-paths.js";
import { Look, SHOWING, type TreeReader } from "./tree-problem.js";
import { handedReading, nameShape, operandWords, type TreeReading } from "./tree-reading.js";

export interface ListedProblem {
  /** The command that shows the files. */
  readonly command: SimpleCommand;
  readonly problem: string;
  /** Its own globs find the files, because names with a dot count. */
  readonly byDotGlobs: boolean;
}

interface Standing {
  readonly command: SimpleCommand;
  readonly item: Script["items"][number];
  readonly around: Place;
}

interface Listing {
  readonly words: readonly Word[];
  readonly reading: TreeReading;
}

const HANDING = new Set(["xargs", "parallel"]);
const SHELLS = new Set(["sh", "bash", "dash", "zsh"]);
const LISTS_OPERANDS = new Set(["find", "ls", "tree", "echo", "printf"]);
const LISTS_FOLDER = new Set(["fd", "fdfind", "rg"]);
const DOT_GLOBS = /\bdotglob\b|\bGLOBIGNORE=/;

export function listedProblem(script: Script, place: Whereabouts, trees: TreeReader): ListedProblem | undefined {
  const commands: Standing[] = [];
  const looped: Word[] = [];
  for (const item of script.items) {
    visitScript({ ...script, items: [item] }, [], {
      simple: (command, around) => void commands.push({ command, item, around }),
      command: (command) => void looped.push(...wordsOfLoop(command)),
    });
  }
  const dotGlobs = commands.some(({ command }) => DOT_GLOBS.test(command.text));
  const everything = { content: true, recursive: true, follows: true, hidden: true, only: [], dotGlobs };
  for (const { command: shower, item } of commands) {
    if (!showsHandedNames(shower) && !(dotGlobs && isShowing(shower))) continue;
    const listers = commands.filter((each) => isHandedOn(each, item));
    const listings: Listing[] = listers.flatMap((lister) => listingOf(lister.command, shower) ?? []);
    if (looped.length > 0) listings.push({ words: looped, reading: { ...everything, recursive: false } });
    if (dotGlobs) listings.push({ words: operandWords(shower), reading: { ...everything, recursive: false } });
    for (const { words, reading } of listings) {
      const look = new Look({ ...reading, dotGlobs }, place.workspace, trees);
      for (const folder of place.folders) {
        const problem = look.problemOf(words, folder);
        if (problem !== undefined) return { command: shower, problem, byDotGlobs: dotGlobs };
      }
    }
  }
  return undefined;
}

/** A command of that item may get the output: a pipe ends with its item; what a substitution gives can be in a variable. */
function isHandedOn({ item, around }: Standing, to: Script["items"][number]): boolean {
  return around.includes("substitution") || (item === to && around.includes("pipeline"));
}

function wordsOfLoop(command: Exclude<Command, SimpleCommand>): readonly Word[] {
  return command.type === "compound" && command.kind === "for" ? command.words.filter(hasGlob) : [];
}

function isShowing({ words }: SimpleCommand): boolean {
  return SHOWING.has(baseName(words));
}

/** It shows files whose names its text does not have. */
function showsHandedNames(command: SimpleCommand): boolean {
  const { words } = command;
  const name = baseName(words);
  if (SHOWING.has(name)) return words.slice(1).some((word) => globValue(word) === undefined);
  // Perhaps behind another program: `nice xargs cat`.
  const at = words.findIndex((word) => HANDING.has(lastName(word) ?? ""));
  return (
    at >= 0 &&
    words.slice(at + 1).some((word) => SHOWING.has(lastName(word) ?? "cat") || SHELLS.has(lastName(word) ?? ""))
  );
}

/** Undefined if it is known only when the command runs. */
function lastName(word: Word): string | undefined {
  return fixedValue(word)?.split("/").at(-1);
}

function listingOf(lister: SimpleCommand, shower: SimpleCommand): Listing | undefined {
  const name = baseName(lister.words);
  const reading = { ...handedReading(shower, lister), content: true, hidden: true };
  if (LISTS_OPERANDS.has(name))
    return { words: operandWords(lister), reading: { ...reading, recursive: name !== "echo" && name !== "printf" } };
  if (LISTS_FOLDER.has(name)) return { words: [], reading };
  return name === "git" ? listingOfGit(lister, reading) : undefined;
}

/** `git ls-files '*.ts'` is limited to names, `git ls-files src` to a folder. */
function listingOfGit({ words }: SimpleCommand, reading: TreeReading): Listing | undefined {
  const at = words.findIndex((word) => /^ls-(files|tree)$/.test(fixedValue(word) ?? ""));
  if (at < 0) return undefined;
  const paths = words.slice(at + 1).filter((word) => !/^-/.test(fixedValue(word) ?? ""));
  const texts = paths.map((word) => fixedValue(word) ?? "*");
  if (texts.length > 0 && texts.every((text) => /[*?[]/.test(text)))
    return {
      words: [],
      reading: { ...reading, only: texts.map((text) => nameShape(text.slice(text.lastIndexOf("/") + 1))) },
    };
  return { words: texts.some((text) => /[*?[]/.test(text)) ? [] : paths, reading };
}

function baseName(words: readonly Word[]): string {
  const inner = unwrapQuietly(words);
  return (
    programName(typeof inner === "string" ? words : inner)
      ?.split("/")
      .at(-1) ?? ""
  );
}
