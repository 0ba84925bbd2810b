/** Decides whether the words of a command delete or overwrite the whole workspace, or what they do not show. `deletions.ts` counts the rest. */
import { posix } from "node:path";
import type { CommandPart, Words } from "../facts.js";

/** Matches everything in the folder: `*`, `.*`, `./*`, `*` with a slash, `**`. */
const EVERYTHING = /^(\.\/)?(\*{1,2}|\.\*|\.\[!\.\]\*|\.\?\*|\{\*,\.\*\}|\*\.\*)\/?(\*{1,2}\/?)?$/;
const NARROWING = new Set(["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"]);

/** A sentence without its full stop; undefined if it does not. */
export function deletionProblem(words: Words, part: CommandPart, workspace: string): string | undefined {
  const [program, ...rest] = words;
  switch (program) {
    case "rm":
    case "unlink":
    case "shred":
    case "srm":
      return removalProblem(rest, part, workspace);
    case "find":
      return findProblem(rest, part, workspace);
    case "rsync": {
      const option = rest.find((word) => word?.startsWith("--del"));
      return option === undefined ? undefined : `rsync ${option} deletes what its source does not have`;
    }
    case "mv":
    case "truncate": {
      const whole = wholeAmong(part, workspace);
      return whole === undefined ? undefined : `${program} ${whole} changes the whole folder`;
    }
    case "chmod":
    case "chown":
    case "chgrp": {
      const whole = isRecursive(rest) ? wholeAmong(part, workspace) : undefined;
      return whole === undefined ? undefined : `${program} ${whole} changes the whole workspace`;
    }
    default:
      return undefined;
  }
}

function removalProblem(rest: Words, part: CommandPart, workspace: string): string | undefined {
  const whole = wholeAmong(part, workspace);
  if (whole !== undefined) return `"${whole}" deletes the whole folder`;
  const targets = rest.filter((word) => !word?.startsWith("-"));
  // The words come from the output of another program.
  if (targets.length === 0 && !rest.some((word) => word === "--help" || word === "--version"))
    return "Oxbow cannot tell what rm deletes: it gets the names from another program";
  const unknown = spelled(part).find((word) => /[$`]/.test(word));
  return isRecursive(rest) && rest.includes(undefined) && unknown !== undefined
    ? `Oxbow cannot tell what "${unknown}" deletes`
    : undefined;
}

function findProblem(rest: Words, part: CommandPart, workspace: string): string | undefined {
  const deletes = rest.some(
    (word, index) => word === "-delete" || (/^-(exec|ok)(dir)?$/.test(word ?? "") && isRemover(rest[index + 1])),
  );
  if (!deletes) return undefined;
  const firstTest = rest.findIndex((word) => word === undefined || /^[-(!]/.test(word));
  const starts = rest.slice(0, firstTest === -1 ? rest.length : firstTest).map((word) => word ?? "");
  const isAtTop = starts.length === 0 || starts.some((start) => isEverything(start, workspace));
  const isNarrow = rest.some((word, index) => {
    if (word === "-empty") return true;
    const negated = rest[index - 1] === "!" || rest[index - 1] === "-not";
    return NARROWING.has(word ?? "") && !negated && !/^[*.?/]*$/.test(rest[index + 1] ?? "*");
  });
  const unknown = /[$`]/.test(part.text) && rest.slice(0, Math.max(firstTest, 1)).includes(undefined);
  return (isAtTop && !isNarrow) || unknown ? "find deletes what it finds in the whole folder" : undefined;
}

function isRemover(word: string | undefined): boolean {
  return /(^|\/)(rm|shred|unlink|truncate)$/.test(word ?? "");
}

function isRecursive(words: Words): boolean {
  return words.some((word) => word === "--recursive" || /^-[a-zA-Z]*[rR]/.test(word ?? ""));
}

/** The literal words, without quotes: otherwise the meaning of a glob is unknown. */
function spelled({ text }: CommandPart): string[] {
  return text.split(/\s+/).map((word) => word.replaceAll(/["']/g, ""));
}

function wholeAmong(part: CommandPart, workspace: string): string | undefined {
  return spelled(part).find((word) => isEverything(word, workspace));
}

/** The workspace itself, all that is in it, or a folder around it. */
function isEverything(word: string, workspace: string): boolean {
  if (word === "~" || word === "~/" || /^(~|\$HOME|\$\{HOME\}|\$PWD|\$\{PWD\}|\$OLDPWD)\/?\*?$/.test(word)) return true;
  if (EVERYTHING.test(word)) return true;
  if (!/^[./]/.test(word)) return false;
  const path = posix.resolve(workspace, word.replace(/\/\*+$/, "") || "/");
  return path === workspace || workspace.startsWith(path === "/" ? "/" : `${path}/`);
}
