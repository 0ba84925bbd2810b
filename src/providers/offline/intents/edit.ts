/** A simple edit that the user specified completely: the old text, the new text and the file. */
import { phraseIntent, readText, unreadable } from "../intent.js";
import { joinedText, parseCounts } from "../outputs.js";
import phrases from "../phrases/edit.txt";
import { call, escapeRegex, grep, type Plan, readCall } from "../plan.js";
import type { RequestText, Term } from "../request-text.js";
import type { Phrase } from "../tables.js";
import { namedPath } from "../terms.js";
import { code, count, paragraphs } from "../wording.js";

interface EditSlots {
  readonly kind: keyof typeof PLANS;
  readonly file?: string;
  /** Of a replacement. */
  readonly from?: string;
  readonly to?: string;
  /** The user renames a name, so parts of longer names stay. */
  readonly name?: true | undefined;
  /** Of any other change. */
  readonly content?: string;
  /** Of an edit that the model understands but does not do. */
  readonly why?: keyof typeof REFUSALS;
}

const PLANS = {
  replace: planReplace,
  append: planAddition,
  prepend: planAddition,
  create: planWholeFile,
  overwrite: planWholeFile,
  *refused({ why = "move" }: EditSlots): Plan {
    yield* [];
    return REFUSALS[why];
  },
} satisfies Readonly<Record<string, (slots: EditSlots) => Plan>>;

const REFUSALS = {
  "no-file": `In which file? Nothing was changed. Name it: ${code("replace 'foo' by 'bar' in notes.txt")}.`,
  "many-files": `Nothing was changed: I edit one named file at a time. Ask "which files mention …" first, then name the file: ${code("replace 'foo' by 'bar' in notes.txt")}.`,
  move: `Nothing was changed: I do not move, copy or delete files myself. Spell the command out, for example: run ${code("git mv old.txt new.txt")}.`,
};

export const matchEdit = phraseIntent<EditSlots>({
  name: "edit",
  phrases,
  read({ meaning, slots }, request) {
    const terms = bothTerms(slots, request);
    if (meaning === "no-file" || meaning === "many-files") return terms && { kind: "refused", why: meaning };
    const file = namedPath(slots.file, request)?.path;
    if (file === undefined) return undefined;
    if (meaning === "replace") {
      const isName = slots.verb?.toLowerCase() === "rename" && /^[A-Za-z_$][\w$]*$/.test(terms?.from ?? "");
      return terms && { kind: meaning, file, ...terms, name: isName || undefined };
    }
    if (meaning === "move") {
      const isTarget = slots.target === undefined || namedPath(slots.target, request) !== undefined;
      return isTarget ? { kind: "refused", why: meaning } : undefined;
    }
    const { value: content, quoted } = request.term(slots.content ?? "");
    const kind = meaning as EditSlots["kind"];
    if (kind === "create" || kind === "overwrite") return { kind, file, content };
    // "add tests to x.ts" asks for new code, which rules cannot write.
    const isSpelledOut = /^(?:append|prepend|add (?:the |a |this )?(?:line|text|sentence))\b/i.test(request.text);
    return literal(slots.content, request) && (quoted || isSpelledOut) ? { kind, file, content } : undefined;
  },
  plan: (slots) => PLANS[slots.kind](slots),
});

const EMPTY = /^(?:nothing|an? empty string|the empty string)$/i;

/** Finds what to replace and by what; nothing when the words only describe it ("the first line", "it", "the colour"). */
function bothTerms(slots: Phrase["slots"], request: RequestText): { from: string; to: string } | undefined {
  const from = literal(slots.from, request);
  const to = literal(slots.to ?? "nothing", request);
  if (from === undefined || to === undefined || from.value === "" || from.value === to.value) return undefined;
  // "convert tabs to spaces" describes; only quoted words are literal.
  if (!from.quoted && /^(?:turn|update|convert|switch)$/i.test(slots.verb ?? "")) return undefined;
  return { from: from.value, to: !to.quoted && EMPTY.test(to.value) ? "" : to.value };
}

const DESCRIBES =
  /^(?:it|them|this|that|these|those|(?:the|a|an|my|our|your|its|their|some|more) .+|(?:first|last|second|third|next|previous|whole|line|lines|function|variable|class|method|code|everything|something|anything)(?: .+)?)$/i;

function literal(slot: string | undefined, request: RequestText): Term | undefined {
  const term = request.term(slot ?? "");
  const isMeant = term.quoted || EMPTY.test(term.value) || !DESCRIBES.test(term.value);
  return slot !== undefined && isMeant ? term : undefined;
}

function* planReplace({ file = "", from = "", to = "", name }: EditSlots): Plan {
  const text = yield* readText({ path: file });
  if (typeof text === "string") return text;
  const visible = (words: string) => code(words === "" ? "(nothing)" : words.replaceAll("\n", "⏎"));
  const notFound = (how = "") =>
    `${visible(from)} was not found${how} in ${code(file)}, so nothing was changed. Case matters.`;
  const replaced = `Replaced ${visible(from)} by ${visible(to)} in ${code(file)}`;
  const everywhere = { path: file, edits: [{ old: from, new: to, all: true }] };
  if (!text.whole) {
    // One read does not show all of it: a search finds the text, and `edit` changes every place.
    if (name)
      return `Nothing was changed: ${code(file)} is longer than one reading shows, so names that only hold ${code(from)} cannot be distinguished. Say "replace" instead of "rename" to change those too.`;
    const found = yield* grep(escapeRegex(from), { path: file }, { mode: "count", multiline: true });
    if (parseCounts(found).files.length === 0) return notFound();
    return `${replaced}. The tool says: ${(yield* call({ tool: "edit", args: everywhere })).text.trim()}`;
  }
  const before = joinedText(text);
  const pattern = new RegExp(name ? `\\b${escapeRegex(from)}\\b` : escapeRegex(from), "g");
  const matches = before.match(pattern)?.length ?? 0;
  const longer = before.split(from).length - 1 - matches;
  if (matches === 0) return notFound(longer > 0 ? " as a whole name (only as a part of longer ones)" : "");
  // The replacement is a function, so that `$&` in the user's words stays literal.
  const after = before.replace(pattern, () => to);
  const args = longer === 0 ? everywhere : { path: file, edits: [smallestChange(before, after)] };
  yield* call({ tool: "edit", args });
  const left = count(longer, "place where it is", "places where it is");
  return paragraphs(
    `${replaced}: ${count(matches, "place")}${matches > 1 ? ", all there are" : ""}.`,
    longer > 0 && `${left} only a part of a longer name ${longer === 1 ? "was" : "were"} left alone.`,
    yield* verify(file, after),
  );
}

function* planAddition({ kind, file = "", content = "" }: EditSlots): Plan {
  const text = yield* readText({ path: file });
  if (typeof text === "string") return text;
  if (!text.whole) return `Nothing was changed: ${code(file)} is longer than one reading shows.`;
  const added = content.replace(/\n$/, "");
  const length = count(added.split("\n").length, "line");
  const isEmpty = text.lines.length === 0;
  const before = joinedText(text);
  const joined = kind === "append" ? `${before}\n${added}` : `${added}\n${before}`;
  const change = isEmpty ? { old: "", new: `${added}\n` } : smallestChange(before, joined);
  yield* call({ tool: "edit", args: { path: file, edits: [change] } });
  const place = kind === "append" ? "end" : "beginning";
  return paragraphs(
    isEmpty ? `${code(file)} was empty; it now has ${length}.` : `Added ${length} at the ${place} of ${code(file)}.`,
    yield* verify(file, isEmpty ? added : joined),
  );
}

function* planWholeFile({ kind, file = "", content = "" }: EditSlots): Plan {
  // The tool replaces an existing file only after it was read.
  const fact = yield* call(readCall(file));
  if (kind === "create" && !fact.failed)
    return `${code(file)} exists already, so nothing was written. To replace all of it: ${code(`overwrite ${file} with '…'`)}.`;
  const isNew = kind === "create" && /does not exist|no such file|not found/i.test(fact.text);
  if (fact.failed && !isNew) return yield* unreadable(file, fact);
  const whole = content === "" || content.endsWith("\n") ? content : `${content}\n`;
  yield* call({ tool: "write", args: { path: file, content: whole } });
  const length = whole === "" ? "it is empty" : count(whole.split("\n").length - 1, "line");
  const done = kind === "create" ? "Created" : "Replaced all of";
  return paragraphs(`${done} ${code(file)}: ${length}.`, yield* verify(file, whole.replace(/\n$/, "")));
}

/** Reads the file again and compares it with what it should be. */
function* verify(path: string, expected: string): Plan {
  const text = yield* readText({ path });
  if (typeof text === "string") return paragraphs("Reading it again to check failed.", text);
  if (!text.whole) return "The file is too long to be checked by reading it again.";
  return joinedText(text) === expected
    ? "Checked by reading it again."
    : "Reading it again shows something other than expected: please check it.";
}

/**
 * Finds the smallest piece of a text that changes, from the first line that differs to the last, with enough lines around it to make the
 * piece unique: `edit` wants a quote of text that occurs exactly once.
 */
export function smallestChange(before: string, after: string): { readonly old: string; readonly new: string } {
  const old = before.split("\n");
  const changed = after.split("\n");
  let start = 0;
  while (start < old.length && old[start] === changed[start]) start++;
  let end = 0;
  while (end < old.length - start && end < changed.length - start && old.at(-1 - end) === changed.at(-1 - end)) end++;
  for (;;) {
    const piece = old.slice(start, old.length - end).join("\n");
    // The last line end is not part of the text, so a piece that ends in one could also match across it.
    const isOnce = piece !== "" && `${before}\n`.indexOf(piece) === `${before}\n`.lastIndexOf(piece);
    if ((start === 0 && end === 0) || isOnce)
      return { old: piece, new: changed.slice(start, changed.length - end).join("\n") };
    start = Math.max(0, start - 1);
    end = Math.max(0, end - 1);
  }
}
