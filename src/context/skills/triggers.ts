/**
 * Decides when a skill starts automatically: words in the user's prompt, and files that a prompt names or a call touches.
 *
 *     triggers:
 *       keywords: [grpc, "protocol buffer*"]
 *       globs: ["*.proto"]
 *
 * A plain list works as well: entries that look like globs are globs, the rest are keywords. `paths` of other tools are globs.
 */
import { isYamlMap, wordsOf } from "../../base/front-matter.js";
import type { YamlMap, YamlValue } from "../../base/yaml.js";

export interface SkillTriggers {
  readonly keywords: readonly string[];
  readonly globs: readonly string[];
}

export type GlobMatcher = (glob: string, path: string) => boolean;

/** More of them would make every prompt slow. */
const MOST = 50;
const MOST_STARS = 2;
/** Only the beginning and the end of a long prompt are searched: the middle is usually pasted text. */
const SEARCHED = 20_000;
const LOOKS_LIKE_GLOB = /[*?[{/]|^\.[\w]|\.\w{1,5}$/;

export function readTriggers(fields: YamlMap): SkillTriggers {
  const triggers = fields.get("triggers");
  const own = isYamlMap(triggers) ? triggers : new Map<string, YamlValue>();
  const listed = isYamlMap(triggers) ? [] : phrasesOf(fields, "triggers");
  const globs = [
    ...["globs", "files", "paths"].flatMap((name) => wordsOf(own, name)),
    ...["globs", "paths"].flatMap((name) => wordsOf(fields, name)),
    ...listed.filter(isGlob),
  ];
  const keywords = [
    ...["keywords", "patterns"].flatMap((name) => phrasesOf(own, name)),
    ...listed.filter((word) => !isGlob(word)),
  ];
  return { keywords: unique(keywords), globs: unique(globs) };
}

function isGlob(word: string): boolean {
  return LOOKS_LIKE_GLOB.test(word) && !/\s/.test(word) && !/^[\w-]+\*$/.test(word);
}

/** A keyword may be several words, so only commas separate them. */
function phrasesOf(fields: YamlMap, name: string): readonly string[] {
  const value = fields.get(name);
  return typeof value === "string" ? value.split(",").map((word) => word.trim()) : wordsOf(fields, name);
}

function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words.filter((word) => word.trim() !== ""))].slice(0, MOST);
}

/** Tells whether a prompt names one of the keywords as whole words, in any case; `*` stands for the rest of a word. */
export function hasKeyword({ keywords }: SkillTriggers, prompt: string): boolean {
  if (keywords.length === 0) return false;
  const words = prompt.length <= 2 * SEARCHED ? prompt : `${prompt.slice(0, SEARCHED)}\n${prompt.slice(-SEARCHED)}`;
  return keywords.some((keyword) => keywordPattern(keyword)?.test(words));
}

/** Undefined if the search would be slow. */
function keywordPattern(keyword: string): RegExp | undefined {
  if ((keyword.match(/\*+/g)?.length ?? 0) > MOST_STARS) return undefined;
  const words = keyword.trim().split(/\s+/);
  const pattern = words.map((word) => word.split(/\*+/).map(escaped).join("[\\p{L}\\p{N}_]{0,40}")).join("\\s+");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${pattern}(?![\\p{L}\\p{N}_])`, "iu");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/** Tells whether one of the paths, relative to the working folder, matches one of the globs. */
export function touchesGlob({ globs }: SkillTriggers, paths: readonly string[], matches: GlobMatcher): boolean {
  return globs.some((glob) => paths.some((path) => matches(glob, path)));
}

/** The words of a prompt that could be paths. */
export function pathsIn(prompt: string): readonly string[] {
  const words = prompt.slice(0, 20_000).split(/[\s"'`<>(),;]+/);
  const paths = words.map((word) => word.replace(/^@/, "").replace(/[.:!?]+$/, ""));
  return paths.filter((word) => /[./]/.test(word) && !/^\w+:\/\//.test(word)).slice(0, 200);
}
