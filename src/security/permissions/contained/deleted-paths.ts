/** The deletions that the words of a command show: of rm and its like, of `find -delete`, and of a `mv` that takes files out of the workspace. */
import { posix } from "node:path";
import { namePattern } from "../../../base/star-pattern.js";
import type { Word } from "../../shell/syntax.js";
import { fixedValue, globValue, hasGlob } from "../../shell/word-values.js";
import { innerCommands } from "../../shell/wrappers.js";
import type { Whereabouts } from "../command-paths.js";
import { guessedPaths } from "../guessed-paths.js";
import type { Deletion } from "./deletions.js";

const REMOVERS = new Set("rm unlink shred srm rimraf trash trash-put del-cli".split(" "));
/** They delete folders without being told to. */
const OF_TREES = new Set("rimraf trash trash-put del-cli".split(" "));
const RUNNERS = new Set("npx bunx pnpx".split(" "));

export function deletedPaths(words: readonly Word[], place: Whereabouts): readonly Deletion[] {
  return [words, ...innerCommands(words).commands].flatMap((each) => deletionsOf(each, place));
}

function deletionsOf(words: readonly Word[], place: Whereabouts): readonly Deletion[] {
  const [first, ...rest] = words;
  const name = (first === undefined ? "" : (fixedValue(first) ?? "")).replace(/^.*\//s, "");
  if (RUNNERS.has(name)) return deletionsOf(rest, place);
  if (REMOVERS.has(name)) {
    const isTree = OF_TREES.has(name) || rest.some(({ text }) => /^(-[a-zA-Z]*[rR]|--recursive$)/.test(text));
    return namedBy(operands(rest), place).map((found) => ({ ...found, extent: isTree ? "tree" : "file" }));
  }
  if (name === "mv") return movedOut(rest, place);
  return name === "find" ? foundBy(rest, place) : [];
}

function movedOut(rest: readonly Word[], place: Whereabouts): readonly Deletion[] {
  const texts = rest.map(({ text }) => text);
  const option = texts.findIndex((text) => text === "-t" || text.startsWith("--target-directory"));
  const named = operands(option < 0 ? rest : rest.toSpliced(option, texts[option]?.includes("=") ? 1 : 2));
  const isByOption = option >= 0;
  const into = isByOption
    ? (texts[option]?.split("=")[1] ?? texts[option + 1] ?? "")
    : ((named.at(-1) && (globValue(named.at(-1) as Word) ?? named.at(-1)?.text)) ?? "");
  const sources = isByOption ? named : named.slice(0, -1);
  const stays = place.folders.some((folder) => inWorkspace(posix.resolve(folder, into), place) !== undefined);
  if (stays && !into.startsWith("~")) return [];
  return namedBy(sources, place).map((found) => ({ ...found, extent: "tree" }));
}

/** Names that are negated or joined by "or" limit nothing. */
function foundBy(rest: readonly Word[], place: Whereabouts): readonly Deletion[] {
  const values = rest.map((word) => globValue(word) ?? word.text);
  const deletes = values.some(
    (value, index) =>
      value === "-delete" ||
      (/^-(exec|ok)(dir)?$/.test(value) && REMOVERS.has((values[index + 1] ?? "").replace(/^.*\//s, ""))),
  );
  if (!deletes) return [];
  const begin = values.findIndex((value) => !/^-[LPH]$/.test(value));
  const test = values.findIndex((value, index) => index >= begin && /^[-!(]/.test(value));
  const starts = rest.slice(Math.max(begin, 0), test < 0 ? undefined : test);
  const isLoose = values.some((value) => value === "!" || value === "-not");
  const names = values.flatMap((value, index) =>
    /^-i?name$/.test(value) && !isLoose ? [namePattern((values[index + 1] ?? "*").replace(/\[[^\]]*\]/g, "?"))] : [],
  );
  const found = starts.length === 0 ? workingFolders(place) : namedBy(starts, place);
  const isAny = names.length === 0 || values.some((value) => value === "-o" || value === "-or" || value === ",");
  return found.map((each) => ({ ...each, extent: "tree", ...(!isAny && { only: names }) }));
}

function operands(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex(({ text }) => text === "--");
  return words.filter(({ text }, index) => index !== end && ((end >= 0 && index > end) || !text.startsWith("-")));
}

type Named = Pick<Deletion, "path" | "isGlob">;

function workingFolders(place: Whereabouts): readonly Named[] {
  return place.folders.flatMap((folder) => inWorkspace(folder, place) ?? []).map((path) => ({ path }));
}

function namedBy(words: readonly Word[], place: Whereabouts): readonly Named[] {
  return words.flatMap((word) => {
    const known = globValue(word);
    const texts = known === undefined ? guessedPaths(word.text) : [known];
    const isGlob = hasGlob(word);
    return texts.flatMap((text) =>
      place.folders.flatMap((folder) => {
        const path = inWorkspace(posix.resolve(folder, text), place);
        return path === undefined ? [] : [{ path, isGlob }];
      }),
    );
  });
}

function inWorkspace(absolute: string, { workspace }: Whereabouts): string | undefined {
  const way = posix.relative(workspace, absolute);
  return way === ".." || way.startsWith("../") ? undefined : way || ".";
}
