/**
 * A file that holds secrets and that the text of a command names, whatever the program does with it: `cp .env x`, `done < .env`,
 * `python3 -c 'open(".env")'`. Files that the text does not name are beyond it: docs/sandbox.md says so.
 */
import { sensitiveReason } from "../../../base/sensitive-path.js";
import type { SimpleCommand } from "../../shell/syntax.js";
import { fixedValue } from "../../shell/word-values.js";

const set = (list: string) => new Set(list.split(" "));

/** Programs that show names and facts, and not what is in a file. */
const MENTIONS = set(
  "echo printf touch rm rmdir unlink mkdir chmod chown chgrp ls stat test [ [[ file du wc realpath readlink basename dirname cd pushd " +
    "export unset which type command true :",
);
/** The last word is the place that they write. */
const COPIES = set("cp mv ln install");
/** Actions of git that show files. */
const SHOWING = set("show cat-file blame annotate diff archive grep");
/** A program that gets such a file for its environment does not show it. */
const ENVIRONMENT_OPTION = /--?env[-_]?file[=\s]+\S+/g;
const SEPARATORS = /[\s"'`()<>|;&=,:{}[\]$]+/;

export interface NamedSecretOptions {
  readonly text: string;
  readonly commands: readonly SimpleCommand[];
  /** Tells whether it is a file, seen from a folder that the command works in. Without it, only names that git gets count. */
  readonly isFile: ((path: string) => boolean) | undefined;
}

/** Other clients wait for the search. Linux starts no command with a longer text. */
const MOST_SEARCHED = 128 * 1024;
const TOO_LONG = "It is too long to be searched for files that hold secrets.";

/** A sentence; undefined if there is none. */
export function namedSecret({ text, commands, isFile }: NamedSecretOptions): string | undefined {
  if (text.length > MOST_SEARCHED) return TOO_LONG;
  let rest = text;
  for (const command of commands) {
    const shown = shownByGit(command);
    if (shown !== undefined) return sentence(shown);
    for (const quiet of quietTexts(command)) rest = without(rest, quiet);
  }
  if (isFile === undefined) return undefined;
  const found = rest
    .replace(ENVIRONMENT_OPTION, " ")
    .split(SEPARATORS)
    .find((word) => isSecret(word) && isFile(word));
  return found === undefined ? undefined : sentence(found);
}

/** The parts of a command that say nothing about what it shows. */
function quietTexts(command: SimpleCommand): readonly string[] {
  const { words, redirects, text } = command;
  const name = programOf(command);
  if (MENTIONS.has(name) || name === "git") return [text];
  const written = redirects.filter(({ operator }) => operator.startsWith(">")).map(({ target }) => target.text);
  const copied = COPIES.has(name) && words.length > 2 ? [words.at(-1)?.text ?? ""] : [];
  return [...written, ...copied].filter((each) => each !== "");
}

/** The last one goes: it is the place that is written. */
function without(text: string, part: string): string {
  const at = text.lastIndexOf(part);
  return at < 0 ? text : `${text.slice(0, at)} ${text.slice(at + part.length)}`;
}

/** The file may be gone from the work tree. */
function shownByGit(command: SimpleCommand): string | undefined {
  if (programOf(command) !== "git") return undefined;
  const words = command.words.slice(1).map((word) => fixedValue(word) ?? "");
  if (!words.some((word) => SHOWING.has(word))) return undefined;
  return words.map((word) => word.slice(word.lastIndexOf(":") + 1)).find((word) => isSecret(word));
}

function programOf({ words }: SimpleCommand): string {
  const program = words[0] === undefined ? "" : (fixedValue(words[0]) ?? "");
  return program.slice(program.lastIndexOf("/") + 1);
}

function isSecret(word: string): boolean {
  return word !== "" && !word.startsWith("-") && sensitiveReason(word) !== undefined;
}

function sentence(path: string): string {
  return `"${path}" may hold secrets.`;
}
