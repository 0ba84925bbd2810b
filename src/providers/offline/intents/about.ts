/** Everything else: what this is, what it can do, and how to connect a language model. */
import abilities from "../about.md";
import type { Match } from "../intent.js";
import type { Plan } from "../plan.js";
import type { RequestText } from "../request-text.js";

type AboutReason = "greeting" | "help" | "thanks" | "needs-model" | "unknown";

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

function reasonOf(request: RequestText): AboutReason {
  const raw = request.raw.trim();
  if (/^[^\p{L}\p{N}]*$/u.test(raw) || CONNECT.test(raw) || HELP.test(raw) || HELP.test(request.text)) return "help";
  if (GREETING.test(raw)) return "greeting";
  if (THANKS.test(raw)) return "thanks";
  return NEEDS_MODEL.test(request.text) ? "needs-model" : "unknown";
}

const WHAT_IT_IS =
  "This is Oxbow's offline model: a built-in helper made of rules. It is not a language model; it cannot reason or write code. It works with the same tools and permissions as a real model, and says only what those tools found.";

const FIRST_WORDS: Readonly<Record<AboutReason, string>> = {
  greeting: `Hello. ${WHAT_IT_IS}`,
  help: WHAT_IT_IS,
  thanks: `You are welcome. ${WHAT_IT_IS}`,
  "needs-model": `That needs a language model. ${WHAT_IT_IS}`,
  unknown: `No rule matches that request, so nothing was done. ${WHAT_IT_IS}`,
};

/** Ends the first answer of a conversation, so that the user does not mistake it for a language model's. */
export const SIGNATURE =
  "(offline model: rules, no language model. Connect one with `oxbow auth set`, a key such as ANTHROPIC_API_KEY, or Ollama; see `oxbow doctor`.)";

function* planAbout(reason: AboutReason): Plan {
  // No tool is needed.
  yield* [];
  return `${FIRST_WORDS[reason]}\n\n${abilities.trimEnd()}`;
}

export const ABOUT = "about";

export function matchAbout(request: RequestText): Match {
  const reason = reasonOf(request);
  return { intent: ABOUT, slots: { reason }, plan: () => planAbout(reason) };
}
