/**
 * Decides whether a command that only reads would read another file than its words say, through a symbolic link: a repository can contain links
 * to any place. Only the words of a command are checked. What a program finds by itself, in folders below or by following links,
 * only a sandbox contains.
 */
import { posix } from "node:path";
import { isSensitive } from "../shell/paths.js";
import { HARMLESS_FILES } from "../shell/programs/sensitive-files.js";
import type { SimpleCommand, Word } from "../shell/syntax.js";
import { fixedValue, globValue } from "../shell/word-values.js";
import type { Whereabouts } from "./command-paths.js";

/** Describes what the disk says about links. */
export interface LinkReader {
  /** The path free of links; undefined when there is nothing. It must not be made shorter before: `link/..` is not `.`. */
  real(path: string): string | undefined;
  /** Finds where the links in a folder lead. */
  within(folder: string): readonly string[];
}

export function linkProblem(command: SimpleCommand, place: Whereabouts, links: LinkReader): string | undefined {
  const inputs = command.redirects.filter(({ operator }) => operator === "<").map(({ target }) => target);
  for (const word of [...command.words.slice(1), ...inputs]) {
    const text = pathOf(word);
    if (text === undefined || HARMLESS_FILES.has(text)) continue;
    for (const folder of place.folders) {
      const path = text.startsWith("/") ? text : `${folder}/${text}`;
      const led = fixedValue(word) === undefined ? links.within(knownFolder(path)) : ledTo(path, links);
      const elsewhere = led.find((real) => leadsAway(real, place.workspace));
      if (elsewhere !== undefined) return `"${word.text}" leads to ${elsewhere}.`;
    }
  }
  return undefined;
}

function pathOf(word: Word): string | undefined {
  const text = globValue(word);
  return text?.startsWith("-") ? /^--?[\w-]+=(.+)$/s.exec(text)?.[1] : text || undefined;
}

/** Nothing where no link is on the way. */
function ledTo(path: string, links: LinkReader): readonly string[] {
  const real = links.real(path);
  return real === undefined || real === posix.resolve(path) ? [] : [real];
}

/** The folder before the first wildcard. */
function knownFolder(path: string): string {
  const known = path.slice(0, path.search(/[*?[{]|$/));
  return known.slice(0, known.lastIndexOf("/") + 1) || ".";
}

function leadsAway(real: string, workspace: string): boolean {
  const way = posix.relative(workspace, real);
  return way === ".." || way.startsWith("../") || isSensitive(way);
}
