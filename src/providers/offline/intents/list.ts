/** Files and folders by place, kind or name: listed, counted, as a tree, by size. */
import { type FileKind, findFileKind, KIND_WORDS } from "../file-kinds.js";
import type { Intent } from "../intent.js";
import phrases from "../phrases/list.txt";
import { PhraseBook } from "../phrases.js";
import { planList } from "../plans/list.js";
import type { RequestText } from "../request-text.js";
import { looksLikeFile, parseScope, type Scope, WHOLE_PROJECT } from "../scope.js";

export type ListGoal =
  | "entries"
  | "files"
  | "folders"
  | "tree"
  | "count-files"
  | "count-folders"
  | "by-extension"
  | "largest";

export interface ListSlots {
  readonly goal: ListGoal;
  readonly scope: Scope;
  /** A name pattern, matched in any folder below the scope. */
  readonly name?: string;
  /** Of `largest`: how many. */
  readonly most?: number;
}

const PHRASES = new PhraseBook(phrases, { macros: { KIND_WORDS } });

export function parseList(request: RequestText): ListSlots | undefined {
  for (const { meaning, slots } of PHRASES.matches(request.text)) {
    const goal = meaning as ListGoal;
    const words = goal === "by-extension" ? slots.scope?.replace(/^(?:this|it|we|used)$/i, "") : slots.scope;
    const scope = words === undefined ? WHOLE_PROJECT : parseScope(words, request);
    const found = scope && build(slots, { request, goal, scope });
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Build {
  readonly request: RequestText;
  readonly goal: ListGoal;
  readonly scope: Scope;
}

function build(
  groups: Readonly<Record<string, string | undefined>>,
  { request, goal, scope }: Build,
): ListSlots | undefined {
  if (goal === "entries" && scope.path !== undefined && looksLikeFile(scope.path)) return undefined;
  if (groups.kind !== undefined) {
    const kind: FileKind | undefined = findFileKind(groups.kind);
    return kind === undefined || scope.kind !== undefined ? undefined : { goal, scope: { ...scope, kind } };
  }
  if (groups.ending !== undefined) {
    const ending = request.term(groups.ending).value.replace(/^\*/, "");
    return /^[\w.+-]+$/.test(ending)
      ? { goal, scope, name: `*${ending.startsWith(".") ? "" : "."}${ending}` }
      : undefined;
  }
  if (groups.name !== undefined) {
    const { value, quoted } = request.term(groups.name);
    const meant = quoted ? /^\S+$/.test(value) && looksLikeName(value) : looksLikeName(value);
    return meant ? { goal, scope, name: value } : undefined;
  }
  const most = groups.most ?? groups.most2;
  if (goal === "entries" && scope.kind !== undefined) return { goal: "files", scope };
  return { goal, scope, ...(most !== undefined && { most: Number(most) }) };
}

/** A file name or a glob; anything else is text to look for inside files. */
function looksLikeName(value: string): boolean {
  return looksLikeFile(value) || (/[*?]/.test(value) && /^[^\s()]+$/.test(value) && !/^[*?]+$/.test(value));
}

export const listIntent: Intent<ListSlots> = { name: "list", parse: parseList, plan: planList };
