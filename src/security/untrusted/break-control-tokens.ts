/**
 * The words with which chat templates separate the parts of a conversation. A server that runs a model from a template reads
 * them wherever they stand, so in text from outside their first character is exchanged for one that only looks like it.
 */
const ANGLED =
  "[|｜][^|｜<>\\s]{1,40}[|｜]>|<\\/?SYS>>|\\/?(?:start_of_turn|end_of_turn|tool_calls?|tool_response|function_calls|think|unused\\d+)>";
const SQUARE = "\\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\\]";

const TOKENS = new RegExp(`<(?=${ANGLED}|\\/?s>)|\\[(?=${SQUARE})`, "gi");
/** `<s>` is HTML as well, and what tools bring is mostly source. */
const TOKENS_OF_RESULTS = new RegExp(`<(?=${ANGLED})|\\[(?=${SQUARE})`, "gi");
const BROKEN_TOKENS = new RegExp(`‹(?=${ANGLED})|⟦(?=${SQUARE})`, "gi");

export function breakControlTokens(text: string, from: "page" | "result" = "page"): string {
  const tokens = from === "page" ? TOKENS : TOKENS_OF_RESULTS;
  return text.replace(tokens, (first) => (first === "<" ? "‹" : "⟦"));
}

/** The other way round, for what a model copies out of a result. */
export function mendControlTokens(text: string): string {
  return text.replace(BROKEN_TOKENS, (first) => (first === "‹" ? "<" : "["));
}
