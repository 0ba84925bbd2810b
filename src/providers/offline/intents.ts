/** The rules in order: the first one that understands a request handles it. "Remember that …" and everything else need no table. */
import abilities from "./about.md";
import type { Match, Matcher } from "./intent.js";
import { matchEdit } from "./intents/edit.js";
import { matchList, matchMeasure, matchRead } from "./intents/files.js";
import { matchGit } from "./intents/git.js";
import { matchCommand, matchFact, matchProject, matchQuotedCommand, matchScript } from "./intents/project.js";
import { matchSearch } from "./intents/search.js";
import { call, type Plan } from "./plan.js";
import type { RequestText } from "./request-text.js";

const MATCHERS: readonly Matcher[] = [
  // The words behind it are the user's note, whatever they are about.
  matchRemember,
  // A literal command or edit before anything that might read words inside it.
  matchEdit,
  matchScript,
  matchGit,
  matchFact,
  // One file before many; reading it before a command that would do the same.
  matchMeasure,
  matchRead,
  matchQuotedCommand,
  matchCommand,
  matchProject,
  matchList,
  matchSearch,
];

/** Rules cannot understand a longer request. Quoted text does not count. */
const MOST_CHARACTERS = 1_000;

/** Always gives an answer: if no rule matches, it explains what the offline model is and what it can do. */
export function matchIntent(request: RequestText): Match {
  for (const match of request.text.length > MOST_CHARACTERS ? [] : MATCHERS) {
    const found = match(request);
    if (found !== undefined) return found;
  }
  const reason = reasonOf(request);
  const words = `${FIRST_WORDS[reason]}${WHAT_IT_IS}\n\n${abilities.trimEnd()}`;
  return { intent: "about", slots: { reason }, plan: () => plain(words) };
}

export function isUnderstood(match: Match): boolean {
  return match.intent !== "about";
}

function* plain(words: string): Plan {
  yield* [];
  return words;
}

/* ---- memory: the user says what to keep, so rules can do it ---- */

const SAVE =
  /^(?:please,?\s+)?(?:remember|memori[sz]e|keep in mind|bear in mind|don['’]?t forget|do not forget|make a note|note)(?:\s+that\b|\s+this)?\s*[:,]?\s+(?<content>\S[\s\S]*)$/i;
const FIND = /^(?:what|which (?:things|notes)) (?:do|did|can) you (?:remember|know)(?: about (?<subject>.+?))?\s*\??$/i;

function matchRemember({ raw }: RequestText): Match | undefined {
  const subject = FIND.exec(raw.trim());
  const content = SAVE.exec(raw.trim())?.groups?.content?.trim();
  if (subject !== null) {
    const about = subject.groups?.subject;
    return { intent: "remember", slots: { kind: "find", about }, plan: () => planMemory("find", about) };
  }
  // A question is none: "remember when we met?"
  if (content === undefined || content.endsWith("?")) return undefined;
  return { intent: "remember", slots: { kind: "save", content }, plan: () => planMemory("save", content) };
}

function* planMemory(action: "save" | "find", content: string | undefined): Plan {
  const type = action === "save" ? "user" : undefined;
  const { text } = yield* call({ tool: "memory", args: { action, content, type } });
  if (action === "save") return `${text}\n\n\`/memory\` lists what is kept.`;
  return text.replace(/^<\/?untrusted-[^>\n]*>\n?/gm, "").trim();
}

/* ---- everything else: what this is, what it can do, and how to connect a language model ---- */

const GREETING =
  /^(?:hi|hello|hey|hiya|howdy|yo|good (?:morning|afternoon|evening|day)|greetings|moin|servus|hallo|salut|hola|ciao)(?:[ ,]+(?:there|oxbow|you|again|all|everyone|world))*[ !.,?]*$/i;
const THANKS =
  /^(?:(?:many |ok(?:ay)?,? )?(?:thanks|thank you|thx|cheers|great|perfect|nice|cool|ok|okay|well done|good job|bye|goodbye)(?: (?:a lot|so much|very much|you|then))?)[ !.]*$/i;
const HELP =
  /^(?:help|help me|\/?help|usage|commands|what (?:can|could|do) (?:you|i|this|it|oxbow)(?: be able to)?(?: do| ask| ask you)?(?: here| for me)?|what are you(?: able to do| capable of)?|who are you|what(?:'s| is) (?:oxbow|this program|this tool|offline|the offline model)|are you (?:an? )?(?:ai|llm|language model|human|bot|robot|real|gpt|claude|there)|how (?:do|can|does|should) (?:i|this|it|one|you) (?:work|use (?:this|you|it|oxbow)|start)|(?:how do i |how can i |how to )?connect (?:a|an|the|my|another)(?: real| language)? model|which model (?:are you|is this|am i using)|what model (?:are you|is this|am i using))[ ?!.]*$/i;
const CONNECT =
  /\b(?:connect|use|set ?up|configure|switch to|add)\b.*\b(?:model|llm|ollama|anthropic|openai|claude|gpt|api key)\b/i;
/** Work that needs understanding: the answer says so and does nothing that only resembles it. */
const NEEDS_MODEL =
  /\b(?:write|implement|fix|refactor|explain|why|improve|design|debug|generate|translate|optimi[sz]e|rewrite|review|suggest|recommend|invent|compose|draft|solve|convert|migrate|port|create|build|make|add|code|program|how (?:do|does|would|should|can|to)|what (?:should|would|does)|clean up|document|compare|plan|think|story|poem|idea|joke)\b/i;

function reasonOf({ raw, text }: RequestText): keyof typeof FIRST_WORDS {
  const words = raw.trim();
  if (/^[^\p{L}\p{N}]*$/u.test(words) || CONNECT.test(words) || HELP.test(words) || HELP.test(text)) return "help";
  if (GREETING.test(words)) return "greeting";
  if (THANKS.test(words)) return "thanks";
  return NEEDS_MODEL.test(text) ? "needs-model" : "unknown";
}

const WHAT_IT_IS =
  "This is Oxbow's offline model: a built-in helper made of rules. It is not a language model; it cannot reason or write code. It works with the same tools and permissions as a real model, and says only what those tools found.";

const FIRST_WORDS = {
  greeting: "Hello. ",
  help: "",
  thanks: "You are welcome. ",
  "needs-model": "That needs a language model. ",
  unknown: "No rule matches that request, so nothing was done. ",
};

/** Ends the first answer of a conversation, so that the user does not mistake it for a language model's. */
export const SIGNATURE =
  "(offline model: rules, no language model. Connect one with `oxbow auth set`, a key such as ANTHROPIC_API_KEY, or Ollama; see `oxbow doctor`.)";
