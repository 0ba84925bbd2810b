/** A simple edit that the person spelled out completely: what, by what, in which file. */
import type { Intent } from "../intent.js";
import { planEdit } from "../plans/edit.js";
import { MARK, type RequestText, type Term } from "../request-text.js";
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

interface Form {
  readonly pattern: RegExp;
  build(groups: Groups, request: RequestText): EditSlots | undefined;
}

const MANY =
  "(?:(?:all|every|each|any)(?: of)?(?: the)? (?:(?:occurrences?|instances?|mentions?|uses?|appearances?) of )?|(?:the )?(?:occurrences?|instances?|mentions?) of )?";
const NOUN =
  "(?:(?:the )?(?:word|string|text|phrase|name|identifier|term|function|variable|class|method|type|value|constant|symbol|sentence)s? )?";
const FILE = "(?:the )?(?:file )?(?<file>\\S+?)(?: file)?";
const WIDE = "(?<wide>(?:all|every|each|any|the|this|my|our|whole|entire)\\b.*|here|everywhere|it|\\S+)";
const INSIDE = "(?:in|inside|within|of|from|throughout|across)";
const Q = `[${MARK}]`;

function form(pattern: string, build: Form["build"]): Form {
  return { pattern: new RegExp(`^${pattern}$`, "i"), build };
}

const REPLACE = `(?<verb>replace|substitute|swap|change|rename|turn|update|convert|switch) ${MANY}${NOUN}(?<from>.+?)(?: (?:by|with|to|into|for)|:? ?(?:->|=>|→)) ${NOUN}(?<to>.+?)`;
const EVERYWHERE = "(?: (?:everywhere|throughout|each time|every time|globally))?";

const FORMS: readonly Form[] = [
  form(`${INSIDE} ${FILE},? (?:please )?${REPLACE}${EVERYWHERE}`, replacement),
  form(`${REPLACE}${EVERYWHERE} ${INSIDE} ${FILE}${EVERYWHERE}`, replacement),
  form(
    `(?:remove|delete|erase|strip|cut) ${MANY}${NOUN}(?<from>${Q})${EVERYWHERE} (?:from|in|inside) ${FILE}`,
    replacement,
  ),
  form(`${INSIDE} ${FILE},? (?:remove|delete|erase|strip|cut) ${MANY}${NOUN}(?<from>${Q})`, replacement),
  form(`(?:rename|move|copy) ${FILE} (?:to|into|as) (?<target>\\S+)`, move),
  form(`(?:delete|remove|erase) ${FILE}`, move),
  form(`${REPLACE}${EVERYWHERE} ${INSIDE} ${WIDE}`, wide),
  form(REPLACE, (groups, request) =>
    bothTerms(groups, request) === undefined ? undefined : { kind: "refused", why: "no-file" },
  ),

  form(
    `(?:append|add|put|insert|write) ${NOUN}(?<content>.+?) (?:to|at|on|onto|as) (?:the )?(?:very )?(?:end|bottom|last line) (?:of|in) ${FILE}`,
    addition("append"),
  ),
  form(
    `(?:prepend|add|put|insert|write) ${NOUN}(?<content>.+?) (?:to|at|on|onto|as) (?:the )?(?:very )?(?:top|start|beginning|head|front|first line) (?:of|in) ${FILE}`,
    addition("prepend"),
  ),
  form(`append ${NOUN}(?<content>.+?) (?:to|onto) ${FILE}`, addition("append")),
  form(`prepend ${NOUN}(?<content>.+?) to ${FILE}`, addition("prepend")),
  form(
    `add (?:the |a |this )?(?:(?:line|text|sentence|entry|word)s?:? )?(?<content>${Q}) to ${FILE}`,
    addition("append"),
  ),
  form(`add (?:the |a |this )?(?:line|text|sentence):? (?<content>.+?) to ${FILE}`, addition("append")),
  form(`append to ${FILE}:? (?<content>${Q})`, addition("append")),

  form(
    `(?:create|make|write|add|save|generate)(?: me)?(?: an?| the)?(?: new)?(?: text)?(?: file)?(?: called| named)? ${FILE},? (?:with|containing|that (?:says|contains)|saying|which contains|and (?:put|write) in it|holding)(?: the)?(?: following)?(?: contents?| text| lines?| body)?:? (?<content>${Q})(?: (?:in|inside) it)?`,
    creation,
  ),
  form(
    `(?:create|make|write|add|save|generate)(?: me)?(?: an?| the)?(?: new)?(?: text)?(?: file)?(?: called| named)? ${FILE} (?:with|whose)(?: the)? (?:contents?|text)(?: is| being)?:? (?<content>.+)`,
    creation,
  ),
  form(`(?:create|make|add|touch)(?: an?| the)?(?: new)? empty(?: text)? file(?: called| named)? ${FILE}`, creation),
  form(`(?:create|make|add)(?: an?| the)?(?: new)? (?:empty |text )?file(?: called| named)? ${FILE}`, creation),
  form(
    `(?:write|save|put) (?:the )?(?:text |line |string )?(?<content>${Q}) (?:to|into|in) (?:a |the )?(?:new )?(?:file )?(?:called |named )?${FILE}`,
    creation,
  ),
  form(
    `(?:overwrite|replace the (?:contents?|text|whole text) of|set the contents? of) ${FILE} (?:with|by|to):? (?<content>${Q})`,
    overwriting,
  ),
];

export function parseEdit(request: RequestText): EditSlots | undefined {
  for (const { pattern, build } of FORMS) {
    const groups = pattern.exec(request.text)?.groups;
    const slots = groups === undefined ? undefined : build(groups, request);
    if (slots !== undefined) return slots;
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

function wide(groups: Groups, request: RequestText): EditSlots | undefined {
  return bothTerms(groups, request) === undefined ? undefined : { kind: "refused", why: "many-files" };
}

function addition(kind: "append" | "prepend"): Form["build"] {
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

const NEEDS =
  /\b(?:replace|substitute|swap|change|rename|turn|update|convert|switch|remove|delete|erase|strip|cut|move|copy|append|prepend|add|put|insert|write|create|make|save|generate|touch|overwrite|set)\b/i;

export const editIntent: Intent<EditSlots> = { name: "edit", needs: NEEDS, parse: parseEdit, plan: planEdit };
