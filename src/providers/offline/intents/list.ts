/** Files and folders by place, kind or name: listed, counted, as a tree, by size. */
import { type FileKind, findFileKind, KIND_WORDS } from "../file-kinds.js";
import { type FormGroup, type Intent, possibleForms } from "../intent.js";
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

interface Form {
  readonly pattern: RegExp;
  readonly goal: ListGoal;
}

const LIST =
  "(?:list|show|show me|give me|print|display|get|see|enumerate|find|name|tell me|what are|which are|search for|look for|locate)(?: me)?";
const ALL = "(?:(?:all|every|each|any|the|of|my|our|a|an|list of|names of|available|existing) )*";
const IN = "(?:in|inside|within|under|from|of|below|at|across|throughout)";
const WHERE = `(?: (?:that are |which are |are )?${IN} (?<scope>.+?))?`;
const THERE =
  "(?:(?: (?:are there|are|do we have|exist|there are|does it have|is there|does (?:this|the) (?:project|repo|repository|folder) have|do i have|we have))?)";
const KIND = `(?<kind>${KIND_WORDS})(?: source)?`;
const FILES = "(?:files?|documents?|docs)";
const FOLDERS = "(?:folders?|directories|directory|dirs?|subfolders?|subdirectories)";
const ENTRIES = "(?:files and (?:folders|directories)|folders and files|contents?|everything|entries|items|stuff)";
const COUNT =
  "(?:how many|count(?: up)?|(?:what is |what's )?(?:the )?(?:number|count|total)(?: number)? of|the amount of)";
const NAMED = "(?: (?:called|named|with (?:the )?name|whose name is|matching|like))";
const NAME = "(?<name>\\S+)";

const THIS = "(?:this|the|our|my) (?:project|repo|repository|code ?base|code|program|app|application|library)";

function form(pattern: string, goal: ListGoal): Form {
  return { pattern: new RegExp(`^${pattern}$`, "i"), goal };
}

const FORMS: readonly FormGroup<Form>[] = [
  // Trees
  {
    needs: /\b(?:tree|structure|structured|layout|hierarchy|organi[sz]ed|laid)\b/i,
    forms: [
      form(
        `(?:${LIST} )?${ALL}(?:(?:directory|folder|file|project|source|code) )?(?:tree|structure|layout|hierarchy)(?: view)?(?: ${IN} (?<scope>.+?))?`,
        "tree",
      ),
      form("tree(?: (?<scope>\\S+))?", "tree"),
      form(
        `(?:how is|what is the (?:structure|layout) of) (?<scope>.+?)(?: (?:organi[sz]ed|structured|laid out))?`,
        "tree",
      ),
    ],
  },
  // By extension
  {
    needs: /\b(?:extensions?|types?|kinds?|languages?)\b/i,
    forms: [
      form(
        `(?:${COUNT}|${LIST}) ${ALL}files?${WHERE} (?:by|per|for each|grouped by) (?:extension|type|kind|language|file type|file extension)`,
        "by-extension",
      ),
      form(
        `(?:${COUNT}|${LIST}) ${ALL}files? (?:by|per|for each|grouped by) (?:extension|type|kind|language|file type|file extension)${WHERE}`,
        "by-extension",
      ),
      form(
        `(?:what|which) (?:file types?|kinds? of files?|types of files?|extensions?|file extensions?)${THERE}${WHERE}`,
        "by-extension",
      ),
      form(
        `(?:which|what) (?:programming )?languages? (?:is|are) (?<scope>${THIS}|this|it|used)(?: (?:written|made|coded|built))?(?: in| with| here)?(?: (?:this|the) (?:project|repo|repository))?`,
        "by-extension",
      ),
      form(`(?:which|what) (?:programming )?languages? (?:does|do) (?<scope>${THIS}|we|it) use`, "by-extension"),
    ],
  },
  // Sizes
  {
    needs: /\b(?:largest|biggest)\b/i,
    forms: [
      form(
        `(?:(?:${LIST}|what are|which are|what is|which is|what's) )?(?:the )?(?:(?<most>\\d{1,3}) )?(?:largest|biggest)(?: (?<most2>\\d{1,3}))? ${FILES}${WHERE}`,
        "largest",
      ),
      form(
        `(?:which|what) (?:is the |file is the |files are the |file is )(?:largest|biggest)(?: file)?${WHERE}`,
        "largest",
      ),
    ],
  },
  // Counts
  {
    needs: /\b(?:how many|count|number|total|amount)\b/i,
    forms: [
      form(`${COUNT} ${ALL}${KIND} ${FILES}${THERE}${WHERE}`, "count-files"),
      form(`${COUNT} ${ALL}(?:source )?files${THERE}${WHERE}`, "count-files"),
      form(`${COUNT} ${ALL}${KIND} ${FILES} (?:does|do) (?<scope>.+?) (?:have|contain|hold)`, "count-files"),
      form(`${COUNT} ${ALL}files (?:does|do) (?<scope>.+?) (?:have|contain|hold)`, "count-files"),
      form(`${COUNT} ${ALL}files${NAMED} ${NAME}${THERE}${WHERE}`, "count-files"),
      form(`${COUNT} ${ALL}${FOLDERS}${THERE}${WHERE}`, "count-folders"),
    ],
  },
  // Names
  {
    needs: /\b(?:find|locate|search|look|list|show|get|which|what|where(?:'s)?|is there|have|exist)\b|[*]/i,
    forms: [
      form(
        `(?:find|locate|search for|look for|where is|where's|where are|show me where) ${ALL}files?${NAMED}? ${NAME}${WHERE}`,
        "files",
      ),
      form(
        `(?:find|locate|search for|look for|list|show|show me|get)(?: me)? ${ALL}files?${NAMED} ${NAME}${WHERE}`,
        "files",
      ),
      form(
        `(?:find|locate|search for|look for|list|show|show me|get|which|what)(?: me)? ${ALL}files? (?:ending (?:in|with)|with (?:the )?(?:extension|ending|suffix)|that end (?:in|with)|whose names? ends? (?:in|with)) (?<ending>\\S+)${WHERE}`,
        "files",
      ),
      form(
        `(?:if |whether )?(?:is there|do we have|have we got) (?:a|an|any) (?:file )?(?:called |named )?${NAME}(?: file)?${WHERE}`,
        "files",
      ),
      form(`(?:if |whether )?(?:does|do) (?:the |a )?(?:file )?${NAME} exist${WHERE}`, "files"),
      form(`(?:find|locate|where is|where's|search for|look for)(?: the)? ${NAME}${WHERE}`, "files"),
      form(`(?:${LIST} )?${ALL}(?<name>\\S*[*]\\S*)(?: files?)?${WHERE}`, "files"),
    ],
  },
  // Kinds
  {
    needs: /\b(?:files?|documents?|docs)\b/i,
    forms: [
      form(`(?:${LIST} )?${ALL}${KIND} ${FILES}${THERE}${WHERE}`, "files"),
      form(`(?:which|what) ${KIND} ${FILES}${THERE}${WHERE}`, "files"),
      form(`where are ${ALL}${KIND} ${FILES}${WHERE}`, "files"),
      form(`(?:${LIST}) ${ALL}(?:source )?files?${WHERE} (?:recursively|and (?:all )?subfolders)`, "files"),
      form(`(?:${LIST}) (?:all|every)(?: of)?(?: the)? files?${WHERE}`, "files"),
    ],
  },
  // Places
  {
    needs:
      /\b(?:files?|folders?|director(?:y|ies)|dirs?|subfolders?|subdirectories|contents?|everything|entries|items|stuff|what(?:'s|s)?|list|ls|dir|ll)\b/i,
    forms: [
      form(`(?:${LIST}) ${ALL}${FOLDERS}${WHERE}`, "folders"),
      form(`(?:which|what) ${FOLDERS}${THERE}${WHERE}`, "folders"),
      form(`(?:${LIST} )?${ALL}${ENTRIES} ${IN} (?<scope>.+?)`, "entries"),
      form(`(?:${LIST}) ${ALL}files?${WHERE}`, "entries"),
      form(`(?:which|what) files?${THERE}${WHERE}`, "entries"),
      form(
        `(?:what is|what's|whats|what do we have|what do i have|what have we got|what is there|what lies|what lives)(?: there)? (?:in|inside|under|within) (?<scope>.+?)`,
        "entries",
      ),
      form(
        "(?:list|ls|dir|ll)(?: -[a-zA-Z]+)*(?: (?<scope>\\S+|(?:the|this|my|current|the current)(?: \\S+)? (?:folder|directory|dir|project|repo|repository)))?",
        "entries",
      ),
      form("(?:list|show|show me) (?:the )?(?:folder|directory|dir) (?<scope>\\S+)", "entries"),
      form("(?:what(?:'s| is)|what files? (?:are|is)|which files? (?:are|is)) (?:there |in )?here", "entries"),
      form("(?:list|show|show me) (?:the )?(?<scope>\\S+ (?:folder|directory|dir))", "entries"),
      form("(?:what does|what do) (?<scope>.+? (?:folder|directory|dir)|\\S+\\/) (?:contain|have|hold)", "entries"),
    ],
  },
];

export function parseList(request: RequestText): ListSlots | undefined {
  for (const { pattern, goal } of possibleForms(FORMS, request.text)) {
    const groups = pattern.exec(request.text)?.groups ?? (pattern.test(request.text) ? {} : undefined);
    if (groups === undefined) continue;
    const words = goal === "by-extension" ? groups.scope?.replace(/^(?:this|it|we|used)$/i, "") : groups.scope;
    const scope = words === undefined ? WHOLE_PROJECT : parseScope(words, request);
    if (scope === undefined) continue;
    const slots = build(groups, { request, goal, scope });
    if (slots !== undefined) return slots;
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
