/** A simple edit that the user specified completely: the old text, the new text and the file. */
import { namedPath } from "../files.js";
import { phraseIntent } from "../intent.js";
import phrases from "../phrases/edit.txt";
import type { Phrase } from "../phrases.js";
import { planEdit } from "../plans/edit.js";
import type { RequestText, Term } from "../request-text.js";

export interface Replacement {
  readonly kind: "replace";
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The user renames a name, so parts of longer names stay. */
  readonly name?: true;
}

export interface NewText {
  readonly kind: "append" | "prepend" | "create" | "overwrite";
  readonly file: string;
  readonly content: string;
}

/** An edit that the model understands but does not do. */
export interface Refusal {
  readonly kind: "refused";
  readonly why: "no-file" | "many-files" | "move";
}

export type EditSlots = Replacement | NewText | Refusal;

type Groups = Phrase["slots"];

function readSlots({ meaning, slots }: Phrase, request: RequestText): EditSlots | undefined {
  if (meaning === "no-file" || meaning === "many-files")
    return bothTerms(slots, request) && { kind: "refused", why: meaning };
  const file = namedPath(slots.file, request)?.path;
  if (file === undefined) return undefined;
  switch (meaning) {
    case "replace":
      return replacement(file, slots, request);
    case "move":
      if (slots.target !== undefined && namedPath(slots.target, request) === undefined) return undefined;
      return { kind: "refused", why: "move" };
    case "append":
    case "prepend": {
      const content = literal(slots.content, request);
      // "add tests to x.ts" asks for new code, which rules cannot write.
      const isSpelledOut = /^(?:append|prepend|add (?:the |a |this )?(?:line|text|sentence))\b/i.test(request.text);
      return content && (content.quoted || isSpelledOut) ? { kind: meaning, file, content: content.value } : undefined;
    }
    default:
      return { kind: meaning as "create" | "overwrite", file, content: request.term(slots.content ?? "").value };
  }
}

function replacement(file: string, groups: Groups, request: RequestText): Replacement | undefined {
  const terms = bothTerms(groups, request);
  const isName = groups.verb?.toLowerCase() === "rename" && /^[A-Za-z_$][\w$]*$/.test(terms?.from ?? "");
  return terms && { kind: "replace", file, ...terms, ...(isName && { name: true }) };
}

const EMPTY = /^(?:nothing|an? empty string|the empty string)$/i;

/** What to replace and by what; nothing when the words only describe it ("the first line", "it", "the colour"). */
function bothTerms(groups: Groups, request: RequestText): { readonly from: string; readonly to: string } | undefined {
  const from = literal(groups.from, request);
  const to = literal(groups.to ?? "nothing", request);
  if (from === undefined || to === undefined || from.value === "" || from.value === to.value) return undefined;
  // "convert tabs to spaces" describes; only quoted words are literal.
  if (!from.quoted && /^(?:turn|update|convert|switch)$/i.test(groups.verb ?? "")) return undefined;
  return { from: from.value, to: !to.quoted && EMPTY.test(to.value) ? "" : to.value };
}

const DESCRIBES =
  /^(?:it|them|this|that|these|those|(?:the|a|an|my|our|your|its|their|some|more) .+|(?:first|last|second|third|next|previous|whole|line|lines|function|variable|class|method|code|everything|something|anything)(?: .+)?)$/i;

function literal(slot: string | undefined, request: RequestText): Term | undefined {
  const term = request.term(slot ?? "");
  const isMeant = term.quoted || EMPTY.test(term.value) || !DESCRIBES.test(term.value);
  return slot !== undefined && isMeant ? term : undefined;
}

export const matchEdit = phraseIntent({ name: "edit", phrases, read: readSlots, plan: planEdit });
