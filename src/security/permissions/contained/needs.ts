/**
 * Explains why a contained command should still ask, by its text: what the sandbox would refuse anyway
 * (so that the user is asked at once, not after a failure), and what should not depend on undo alone. This is not a
 * protection: the sandbox blocks what the words do not show.
 */
import { posix } from "node:path";
import { isSensitive } from "../../shell/paths.js";
import type { CommandFacts, CommandPart, Words } from "../facts.js";
import { deletionProblem } from "./deleting-words.js";
import { gitLoss, gitNeed } from "./git-needs.js";
import { ALWAYS, BY_SUBCOMMAND, BY_TWO_WORDS, ON_THE_MACHINE, OPTIONS_WITH_VALUE } from "./network-programs.js";

/** Lists what the user can open in the sandbox for one command. */
export const OPENINGS = ["network", "git", "unix_sockets", "secrets"] as const;
export type Opening = (typeof OPENINGS)[number];

export interface Need {
  /** Sentences. */
  readonly reason: string;
  readonly opens: readonly Opening[];
  /** The part of the command that needs it; undefined for the whole. */
  readonly about?: string;
  /** Each such command asks: no answer holds for the next one. */
  readonly once?: true;
}

export interface Surroundings {
  readonly workspace: string;
  /** Folders beside it that the sandbox lets commands change. */
  readonly writable?: readonly string[];
}

/** The needs of the whole text; empty if it can run unchanged. */
export function commandNeeds({ parts, secret, deletes }: CommandFacts, surroundings: Surroundings): readonly Need[] {
  const inParts = parts.flatMap((part): readonly Need[] => {
    const need = partNeed(part, surroundings);
    return need === undefined ? [] : [{ ...need, about: part.text }];
  });
  const needs = deletes === undefined ? inParts : [...inParts, { reason: deletes, opens: [] }];
  return secret === undefined || needs.some(({ opens }) => opens.includes("secrets"))
    ? needs
    : [...needs, { reason: secret, opens: ["secrets"] }];
}

export function partNeed(part: CommandPart, surroundings: Surroundings): Need | undefined {
  if (part.exposes !== undefined) return { reason: `${part.exposes}${searchAdvice(part)}`, opens: ["secrets"] };
  if (part.verdict === "read-only") return undefined;
  for (const reading of part.readings) {
    const need = readingNeed(reading, part, surroundings);
    if (need !== undefined) return need;
  }
  const outside = part.writes.find((text) => isOutside(text.replaceAll(/["']/g, ""), surroundings));
  return outside === undefined ? undefined : writesOutside(outside, surroundings);
}

/** The search tool leaves secrets out, also those that git tracks. */
function searchAdvice({ readings }: CommandPart): string {
  const isSearch = readings.some(([program]) => /^([ef]?grep|rg|ag)$/.test(program ?? ""));
  return isSearch ? " The grep tool leaves such files out." : "";
}

function readingNeed(reading: Words, part: CommandPart, surroundings: Surroundings): Need | undefined {
  const [program] = reading;
  if (program === undefined) return undefined;
  const bare = program.slice(program.lastIndexOf("/") + 1);
  // With its version it is the same program.
  const name = bare.replace(/^(python|pip|pypy|ruby|perl|lua)\d+(\.\d+)*$/, "$1");
  if (ON_THE_MACHINE.has(program) || program.startsWith("mkfs")) {
    const reason = `${program} changes this machine, which the sandbox blocks: it only works outside (outside_sandbox).`;
    return { reason, opens: [] };
  }
  const rest = afterOptions(reading.slice(1));
  if (name === "git") return needOfGit(gitNeed(rest), rest);
  const inside = deletionProblem(reading, part, surroundings.workspace);
  if (inside !== undefined) return { reason: `${inside}.`, opens: [], once: true };
  const secret = READS_FILES.has(name) ? part.paths.find(({ display }) => isSensitive(display)) : undefined;
  if (secret !== undefined) return { reason: `"${secret.display}" may hold secrets.`, opens: ["secrets"] };
  if (needsNetwork(name, reading, rest)) return needsNetworkFor(part.text);
  const written = writtenPlaces(name, reading).find((path) => isOutside(path, surroundings));
  if (written !== undefined) return writesOutside(written, surroundings);
  const changes = CHANGES_ALL.has(name) || CHANGES_LAST.has(name);
  const isInHome = changes && /\s(~|\$HOME|\$\{HOME\})(\/|\s|$)/.test(part.text);
  return isInHome ? writesOutside("the home folder", surroundings) : undefined;
}

/** Programs that show what is in a file. */
const READS_FILES = new Set(
  "cat head tail less more bat nl tac rev sort cut paste strings xxd od hexdump base64 base32 grep egrep fgrep rg ag awk gawk sed diff source .".split(
    " ",
  ),
);

/** Tells what a command does to changes that no commit holds; undefined if it keeps them, as far as the words show. */
export function lossOf([program, ...rest]: Words): string | undefined {
  const name = program?.slice(program.lastIndexOf("/") + 1);
  return name === "git" ? gitLoss(afterOptions(rest)) : undefined;
}

function needOfGit(need: ReturnType<typeof gitNeed>, [subcommand, ...args]: Words): Need | undefined {
  if (need === "nothing") return undefined;
  const loss = gitLoss([subcommand, ...args]);
  if (need === "cleans") return { reason: `git clean ${loss}.`, opens: [] };
  if (need === "network")
    return { reason: `git ${subcommand} needs the network and writes .git.`, opens: ["network", "git"] };
  const also = loss === undefined ? "" : ` and ${loss}`;
  return { reason: `git ${subcommand} writes .git${also}.`, opens: ["git"] };
}

function needsNetworkFor(text: string): Need {
  const [first = "", second = ""] = text.split(/\s+/);
  return { reason: `${`${first} ${second}`.trim()} needs the network.`, opens: ["network"] };
}

function writesOutside(path: string, { workspace, writable = [] }: Surroundings): Need {
  const absolute = posix.resolve(workspace, path);
  if (writable.some((folder) => isIn(absolute, folder))) {
    return { reason: `It writes ${path}, outside the workspace, where undo does not cover commands.`, opens: [] };
  }
  const reason = `It writes ${path}, outside the workspace, which the sandbox blocks: it only works outside (outside_sandbox).`;
  return { reason, opens: [] };
}

const LOCAL = /^(https?:\/\/)?(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)(:\d+)?([/?#]|$)/i;

function needsNetwork(name: string, reading: Words, rest: Words): boolean {
  if (ALWAYS.has(name)) return true;
  if (name === "curl" || name === "wget") {
    const addresses = reading
      .slice(1)
      .filter((word) => word !== undefined && /:\/\/|^[\w.[\]:-]+\.[a-z]{2,}|localhost|^127\./i.test(word));
    const isAsked = !reading.some((word) => word === "--version" || word === "--help" || word === "-V");
    return isAsked && (addresses.length === 0 || addresses.some((word) => !LOCAL.test(word ?? "")));
  }
  if (name === "rsync") return reading.some((word) => /^[\w.-]+(@[\w.-]+)?:|^rsync:\/\//.test(word ?? ""));
  const [first = "", second = ""] = rest;
  if (BY_TWO_WORDS.has(`${name} ${first} ${second}`.trim()) || BY_TWO_WORDS.has(`${name} ${first}`)) return true;
  if (name === "python" && reading.includes("-m") && reading.includes("pip"))
    return BY_SUBCOMMAND.get("pip")?.has(rest.at(rest.indexOf("pip") + 1) ?? "") === true;
  if (name === "npm" && first === "init") return second !== "" && !second.startsWith("-");
  // Without a version it is the workspace's own program that is installed.
  if (name === "go" && first === "install") return rest.some((word) => word?.includes("@"));
  if (name === "cargo" && first === "install") return !rest.includes("--path");
  return BY_SUBCOMMAND.get(name)?.has(first) === true && !isHelp(reading);
}

function isHelp(reading: Words): boolean {
  return reading.includes("--help") || reading.includes("--version") || reading.includes("--offline");
}

/** The words from the first one that is neither an option nor its value. */
function afterOptions(words: Words): Words {
  let at = 0;
  for (let word = words[at]; at < words.length && word !== undefined && word.startsWith("-"); word = words[at]) {
    at += OPTIONS_WITH_VALUE.has(word) ? 2 : 1;
  }
  return words.slice(at);
}

const CHANGES_ALL = new Set(
  "rm rmdir unlink shred touch mkdir mkfifo mknod truncate tee chmod chown chgrp mv".split(" "),
);
const CHANGES_LAST = new Set("cp ln install rsync scp".split(" "));

/** The files and folders that a well-known program would change. */
function writtenPlaces(name: string, [, ...rest]: Words): string[] {
  const plain = rest.filter((word): word is string => word !== undefined && !word.startsWith("-"));
  if (CHANGES_ALL.has(name)) return plain;
  if (CHANGES_LAST.has(name)) return plain.slice(-1).filter(() => plain.length > 1);
  if (name === "dd") return rest.flatMap((word) => /^of=(.+)$/.exec(word ?? "")?.[1] ?? []);
  const inPlace = rest.some((word) => /^(-[a-zA-Z]*i|--in-place)/.test(word ?? ""));
  return (name === "sed" || name === "perl") && inPlace ? plain.slice(1) : [];
}

/** Private to the command, or no file at all. */
const PRIVATE = /^\/(tmp|dev|proc|run)(\/|$)/;

function isOutside(path: string, { workspace }: Surroundings): boolean {
  if (/^(~|\$HOME\b|\$\{HOME\})/.test(path)) return true;
  if (/[$`]/.test(path)) return false;
  const absolute = posix.resolve(workspace, path);
  return !isIn(absolute, workspace) && !PRIVATE.test(absolute);
}

function isIn(absolute: string, folder: string): boolean {
  return absolute === folder || absolute.startsWith(`${folder}/`);
}
