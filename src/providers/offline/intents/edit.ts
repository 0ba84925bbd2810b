/** A simple edit that the person spelled out completely: what, by what, in which file. */
import type { Intent } from "../intent.js";
import phrases from "../phrases/edit.txt";
import { PhraseBook } from "../phrases.js";
import { planEdit } from "../plans/edit.js";
import type { RequestText, Term } from "../request-text.js";
import { namedPath } from "./read.js";

export interface Replacement {
  readonly kind: "replace";
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** A name is renamed: parts of longer names stay. */
  readonly name?: true;
}

export interface Addition {
  readonly kind: "append" | "prepend";
  readonly file: string;
  readonly content: string;
}

export interface WholeFile {
  readonly kind: "create" | "overwrite";
  readonly file: string;
  readonly content: string;
}

/** Understood as an edit, but not one that is carried out. */
export interface Refusal {
  readonly kind: "refused";
  readonly why: "no-file" | "many-files" | "move";
}

export type EditSlots = Replacement | Addition | WholeFile | Refusal;

type Groups = Readonly<Record<string, string | undefined>>;

const PHRASES = new PhraseBook(phrases);

type Build = (groups: Groups, request: RequestText) => EditSlots | undefined;

const BUILDERS: Readonly<Record<string, Build>> = {
  replace: replacement,
  move,
  wide: (groups, request) => refusal(groups, request, "many-files"),
  "no-file": (groups, request) => refusal(groups, request, "no-file"),
  append: addition("append"),
  prepend: addition("prepend"),
  create: creation,
  overwrite: overwriting,
};

export function parseEdit(request: RequestText): EditSlots | undefined {
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    const found = BUILDERS[meaning]?.(slots, request);
    if (found !== undefined) return found;
  }
  return undefined;
}

function replacement(groups: Groups, request: RequestText): EditSlots | undefined {
  const file = fileOf(groups, request);
  const terms = bothTerms(groups, request);
  if (file === undefined || terms === undefined) return undefined;
  const { from, to } = terms;
  const isName = groups.verb?.toLowerCase() === "rename" && /^[A-Za-z_$][\w$]*$/.test(from);
  return { kind: "replace", file, from, to, ...(isName && { name: true as const }) };
}

/** What to replace and by what, unless the words only describe it ("the first line", "it", "the colour"). */
function bothTerms(groups: Groups, request: RequestText): { readonly from: string; readonly to: string } | undefined {
  const from = literal(groups.from, request);
  const to = groups.to === undefined ? { value: "", quoted: true } : literal(groups.to, request);
  if (from === undefined || to === undefined || from.value === "" || from.value === to.value) return undefined;
  // "convert tabs to spaces" describes; only with quotes is it meant word for word.
  if (!from.quoted && /^(?:turn|update|convert|switch)$/i.test(groups.verb ?? "")) return undefined;
  if (!to.quoted && /^(?:nothing|an? empty string|the empty string)$/i.test(to.value))
    return { from: from.value, to: "" };
  return { from: from.value, to: to.value };
}

const DESCRIBES =
  /^(?:it|them|this|that|these|those|(?:the|a|an|my|our|your|its|their|some|more) .+|(?:first|last|second|third|next|previous|whole|line|lines|function|variable|class|method|code|everything|something|anything)(?: .+)?)$/i;

function literal(slot: string | undefined, request: RequestText): Term | undefined {
  if (slot === undefined) return undefined;
  const term = request.term(slot);
  return !term.quoted && DESCRIBES.test(term.value) && !/^(?:an? empty string|the empty string)$/i.test(term.value)
    ? undefined
    : term;
}

function move(groups: Groups, request: RequestText): EditSlots | undefined {
  if (fileOf(groups, request) === undefined) return undefined;
  if (groups.target !== undefined && namedPath(groups.target, request) === undefined) return undefined;
  return { kind: "refused", why: "move" };
}

function refusal(groups: Groups, request: RequestText, why: Refusal["why"]): EditSlots | undefined {
  return bothTerms(groups, request) === undefined ? undefined : { kind: "refused", why };
}

function addition(kind: "append" | "prepend"): Build {
  return (groups, request) => {
    const file = fileOf(groups, request);
    const content = literal(groups.content, request);
    if (file === undefined || content === undefined) return undefined;
    // "add tests to x.ts" asks for something to be thought up.
    if (!content.quoted && !/^(?:append|prepend|add (?:the |a |this )?(?:line|text|sentence))\b/i.test(request.text))
      return undefined;
    return { kind, file, content: content.value };
  };
}

function creation(groups: Groups, request: RequestText): EditSlots | undefined {
  const file = fileOf(groups, request);
  if (file === undefined) return undefined;
  return { kind: "create", file, content: groups.content === undefined ? "" : request.term(groups.content).value };
}

function overwriting(groups: Groups, request: RequestText): EditSlots | undefined {
  const file = fileOf(groups, request);
  if (file === undefined || groups.content === undefined) return undefined;
  return { kind: "overwrite", file, content: request.term(groups.content).value };
}

function fileOf(groups: Groups, request: RequestText): string | undefined {
  return groups.file === undefined ? undefined : namedPath(groups.file, request)?.path;
}

export const editIntent: Intent<EditSlots> = { name: "edit", parse: parseEdit, plan: planEdit };
