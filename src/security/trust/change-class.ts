/**
 * The class of a change, by its text: what it could make Oxbow or the model do.
 *
 * 1. In doubt the higher class: a wrong label costs a question, or only its wording.
 * 2. Hidden characters in what changed make it at least code-adjacent.
 * 3. `metadata` is white space that means nothing outside of code, and front matter fields that the caller names, as long
 *    as they hold a mere label. All other front matter is code-adjacent: it decides when and with which tools a text is used.
 * 4. `prose` is loaded without a question, so it may hold nothing that a program or the model could follow: no code, command, path,
 *    address, link or markup.
 */
import { diffLines } from "../../base/diff.js";
import { revealHidden } from "../untrusted/reveal-hidden.js";
import { type ContentItem, effectOf } from "./content.js";

const CHANGE_CLASSES = ["metadata", "prose", "code-adjacent", "executable"] as const;
export type ChangeClass = (typeof CHANGE_CLASSES)[number];

export function isChangeClass(value: unknown): value is ChangeClass {
  return (CHANGE_CLASSES as readonly unknown[]).includes(value);
}

export interface Versions {
  /** Undefined when there was none, or when it was not kept. */
  readonly before?: Uint8Array | undefined;
  /** Undefined when it is too large to check. */
  readonly after?: Uint8Array | undefined;
  /** Front matter fields whose change is metadata. */
  readonly metadataKeys: readonly string[];
}

export function classifyChange(item: ContentItem, { before, after, metadataKeys }: Versions): ChangeClass {
  if (effectOf(item) === "runs" || item.kind === "profile") return "executable";
  if (item.kind === "alias" || item.kind === "sessions" || after === undefined) return "code-adjacent";
  const newText = decode(after);
  const oldText = before === undefined ? "" : decode(before);
  if (newText === undefined || oldText === undefined) return "code-adjacent";
  const [oldFields, oldBody] = splitFrontMatter(oldText);
  const [newFields, newBody] = splitFrontMatter(newText);
  const fields = classifyFields(oldFields, newFields, metadataKeys);
  return higher(fields, classifyBody(oldBody, newBody));
}

function higher(one: ChangeClass, other: ChangeClass): ChangeClass {
  return CHANGE_CLASSES.indexOf(one) > CHANGE_CLASSES.indexOf(other) ? one : other;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

type Fields = ReadonlyMap<string, string>;

/** Top-level fields with all of their lines. What does not look like fields is one field without a name. */
function splitFrontMatter(text: string): readonly [Fields, string] {
  const match = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (match === null || match.index !== 0) return [new Map(), text];
  const fields = new Map<string, string>();
  let key = "";
  for (const line of (match[1] ?? "").split(/\r?\n/)) {
    const named = /^([A-Za-z][\w-]*)[ \t]*:/.exec(line)?.[1];
    const continues = line === "" || /^[ \t]/.test(line);
    if (named !== undefined) key = fields.has(named) ? "" : named;
    else if (!continues) key = "";
    if (line.trim() !== "") fields.set(key, `${fields.get(key) ?? ""}${withoutTrailingBlanks(line)}\n`);
  }
  return [fields, text.slice(match[0].length)];
}

function classifyFields(before: Fields, after: Fields, metadataKeys: readonly string[]): ChangeClass {
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    if (before.get(key) === after.get(key)) continue;
    const values = [before.get(key) ?? "", after.get(key) ?? ""].map((value) => value.slice(key.length + 1));
    const isIdle = metadataKeys.includes(key) && values.every((value) => isLabel(key, value));
    if (!isIdle || values.some(looksLikeCode)) return "code-adjacent";
  }
  return "metadata";
}

/** An unused field could hide text for the model. So it may hold one word, and a description one line. */
function isLabel(key: string, value: string): boolean {
  return key === "description" ? !value.trim().includes("\n") : /^\s*["']?[\w.+-]{0,40}["']?\s*$/.test(value);
}

interface Line {
  readonly text: string;
  readonly isCode: boolean;
}

function classifyBody(before: string, after: string): ChangeClass {
  const oldLines = linesOf(before);
  const newLines = linesOf(after);
  const changed = diffLines(oldLines.map(lineKey), newLines.map(lineKey))
    .filter(({ kind }) => kind === "changed")
    .flatMap(({ oldStart, oldCount, newStart, newCount }) => [
      ...oldLines.slice(oldStart, oldStart + oldCount),
      ...newLines.slice(newStart, newStart + newCount),
    ]);
  if (changed.length === 0) return "metadata";
  return changed.some(({ text, isCode }) => isCode || looksLikeCode(text)) ? "code-adjacent" : "prose";
}

/** A line that comes to lie in a code block has changed even if its words have not. */
function lineKey({ text, isCode }: Line): string {
  return (isCode ? "c" : "p") + text;
}

/** Outside of code, trailing blanks and empty lines mean nothing. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let fence: string | undefined;
  for (const raw of text.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
    const inside = fence !== undefined;
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && raw.trim() === mark) fence = undefined;
    const isCode = inside || mark !== undefined;
    const kept = isCode ? raw : withoutTrailingBlanks(raw);
    if (isCode || kept !== "") lines.push({ text: kept, isCode });
  }
  return lines;
}

/** Visible blanks; other white space stays, and counts as hidden. */
function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  return line.slice(0, end);
}

/** Programs that fetch, run, delete, install or send. */
const PROGRAMS =
  "bash|sh|zsh|fish|cmd|powershell|pwsh|curl|wget|nc|ncat|ssh|scp|rsync|sudo|su|doas|rm|mv|cp|dd|chmod|chown|ln|kill|eval|exec|source|" +
  "npm|npx|pnpm|yarn|bun|bunx|deno|node|python3?|pip3?|pipx|uvx?|ruby|gem|perl|php|go|cargo|make|cmake|docker|podman|kubectl|helm|" +
  "git|gh|apt|apt-get|brew|yum|dnf|apk|systemctl|crontab|launchctl|osascript|reg|rundll32|certutil|base64|xxd|openssl|gpg|env|export|tee|xargs";

/** None of them backtracks: an attacker may choose a long text to slow them down. */
const CODE_LIKE: readonly RegExp[] = [
  /`/,
  /^(?: {4}|\t)/,
  /:\/\/|\bwww\.|\b\d{1,3}(?:\.\d{1,3}){3}\b/i,
  /[/\\][\w.~-]/,
  /[\w-]\.(?:sh|py|js|ts|mjs|cjs|rb|pl|php|exe|bat|cmd|ps1|json|ya?ml|toml|env|pem|key)\b/i,
  /(?:^|\s)-{1,2}[a-z]/i,
  /\$[\w({]|[A-Z0-9_]=|&&|\|\||>>|<<|[<>]\(|\|\s?\w/,
  /<[/a-z!]|&#?\w+;/i,
  // Links of Markdown, also to definitions elsewhere in the text.
  /\]\s?[([]|^\s*\[[^\]]*\]:/,
  /(?:^|\s)@[\w./~-]/,
  /[A-Za-z0-9+/_-]{40}/,
  new RegExp(`(?:^|[\\s"'(|;&!])(?:${PROGRAMS})(?=$|[\\s"');|&.,:!?])`, "i"),
];

function looksLikeCode(text: string): boolean {
  return revealHidden(text) !== text || CODE_LIKE.some((pattern) => pattern.test(text));
}
