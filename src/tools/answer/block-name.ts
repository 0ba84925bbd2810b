/**
 * The file that a code block of an answer is for. The name may be
 *
 * 1. after the fence: `ts src/a.ts`, `src/a.ts`, `ts:src/a.ts`, `ts title="src/a.ts"`;
 * 2. alone on the line above: `**src/a.ts**`, `` `src/a.ts`: ``, `### src/a.ts`, `File: src/a.ts`;
 * 3. alone in a comment on the first line of the block: `// src/a.ts`, `# src/a.py`, `<!-- x.html -->`.
 *
 * A sentence that mentions a file names none: the block may be a part of the file.
 */
import type { CodeBlock } from "./code-blocks.js";
import { fitsLanguage, isFileName, isMarkdown, looksLikePath } from "./file-names.js";

export interface BlockName {
  readonly path: string;
  /** Says whether the fence itself has it. */
  readonly isOnFence: boolean;
  /** The comment with the name, if it is the first line. */
  readonly comment?: string;
}

export type Naming = { readonly name: BlockName } | { readonly problem: string } | { readonly note?: string };

export function nameOf({ info, above, content, line }: CodeBlock): Naming {
  const language = languageOf(info);
  const first = content.slice(0, Math.max(0, content.indexOf("\n")));
  const onFence = pathOnFence(info);
  const found = { onFence, above: pathInCaption(above), comment: pathInComment(first) };
  const weak = [found.above, found.comment].filter((path) => path !== undefined);
  const fitting = weak.filter((path) => fitsLanguage(path, language));
  const all = [onFence, ...fitting].filter((path) => path !== undefined);
  const path = all.reduce<string | undefined>((one, other) => longer(one, other), undefined);
  if (path === undefined) return noName({ weak, language, above });
  if (!all.every((one) => isSameFile(one, path)))
    return { problem: `The block at line ${line} has several names: ${[...new Set(all)].join(", ")}.` };
  const hasComment = found.comment !== undefined && fitting.includes(found.comment);
  if (hasComment && namesIn(content) > 1)
    return { problem: `The block at line ${line} has comments with the names of several files.` };
  const isLabel = hasComment && onFence === undefined;
  return { name: { path, isOnFence: onFence !== undefined, ...(isLabel && { comment: first }) } };
}

function noName({ weak, language, above }: { weak: readonly string[]; language: string; above: string }): Naming {
  const [unfit] = weak;
  if (unfit !== undefined) return { note: `A block of ${language} is not the text of ${unfit}` };
  const mentioned = mentionedIn(above);
  if (mentioned === undefined) return {};
  return { note: `The block after "${above}" may be a part of ${mentioned}` };
}

/** `a.ts` and `src/a.ts` may be one file; the longer name says more. */
function isSameFile(one: string, other: string): boolean {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}

function longer(one: string | undefined, other: string): string {
  return one === undefined || other.length > one.length ? other : one;
}

export function languageOf(info: string): string {
  const first = /^[^\s{]*/.exec(info)?.[0] ?? "";
  return /^([\w+#.-]+):/.exec(first)?.[1] ?? first;
}

const NAMED = /(?:title|file|filename|path)=(?:"([^"]+)"|'([^']+)'|(\S+))/;

export function pathOnFence(info: string): string | undefined {
  const [, double, single, plain] = NAMED.exec(info) ?? [];
  const named = double ?? single ?? plain;
  if (named !== undefined) return tidy(named);
  const words = info.split(/\s+/).filter((word) => !/^(?:|\/\/|#|\{.*)$/.test(word));
  const [first = "", second] = words;
  const colon = /^[\w+#.-]+:(.+)$/.exec(first)?.[1];
  const path = [second, colon, first].find((word) => word !== undefined && looksLikePath(word));
  return path === undefined ? undefined : tidy(path);
}

const BULLET = /^(?:[-*+•]|\d{1,3}[.)])\s+/;
const LABEL =
  /^(?:(?:(?:new|updated?|modified|changed|created?|full|complete)\s+)?(?:file(?:\s?name|\s?path)?|path)\s*[:=]\s*|(?:create|(?:create\s+)?(?:new\s+)?file)\s+)/i;
const REMARK = /\s*\((?:new|new file|updated?|modified|changed|created?|edited|full|full file|complete)\)$/i;

/** A line that is nothing but the name of a file, with the usual decoration. */
export function pathInCaption(line: string): string | undefined {
  const plain = line
    .trim()
    .replace(/^(?:>\s*)+/, "")
    .replace(/^#{1,6}\s+/, "")
    .replace(/\s+#+$/, "")
    .replace(BULLET, "")
    .replace(/(\*{1,3})([^*]+)\1/g, "$2")
    .replaceAll("`", "")
    .replace(BULLET, "")
    .replace(/^(?:\p{Extended_Pictographic}|\uFE0F|\s)+(?=\D)/u, "")
    .replace(/^\[([^\]]+)\]\([^)]*\)(:?)$/, "$1$2");
  return soleName(plain);
}

const COMMENTS: readonly RegExp[] = [
  /^<!--\s*(.+?)\s*-->$/,
  /^\/\*+\s*(.+?)\s*\*+\/$/,
  /^(?:\/\/+|#+|--+|;+|%+)\s*(.+?)\s*$/,
];

/** A comment that is nothing but the name of a file. */
export function pathInComment(line: string): string | undefined {
  for (const [index, pattern] of COMMENTS.entries()) {
    const inside = pattern.exec(line.trim())?.[1];
    const path = inside === undefined ? undefined : soleName(inside);
    // In Markdown a line with # is a heading.
    if (path !== undefined) return index > 0 && isMarkdown(path) ? undefined : path;
  }
  return undefined;
}

function soleName(text: string): string | undefined {
  const plain = text.trim().replace(/\s*:$/, "").replace(REMARK, "").trim();
  const name = tidy(plain.replace(LABEL, "").trim());
  const hasLabel = LABEL.test(plain);
  return (hasLabel ? looksLikePath(name) : isFileName(name)) ? name : undefined;
}

function tidy(path: string): string {
  const plain = path.includes("/") ? path : path.replaceAll("\\", "/");
  return plain.replace(/^(?:\.\/)+/, "");
}

function namesIn(content: string): number {
  const names = content.split("\n").map((line) => pathInComment(line));
  return new Set(names.filter((name) => name !== undefined)).size;
}

/** The only file in quotation marks or bold letters of a sentence. */
function mentionedIn(sentence: string): string | undefined {
  const words = [...sentence.matchAll(/`([^`]+)`|\*\*([^*]+)\*\*/g)].map(([, code, bold]) => code ?? bold ?? "");
  const files = words.filter((word) => isFileName(word));
  return files.length === 1 ? files[0] : undefined;
}
