/**
 * The words with which chat templates separate the parts of a conversation. A server that runs a model from a template reads
 * them wherever they stand, so in text from outside their first character is exchanged for one that only looks like it.
 */
const TOKENS =
  /<(?=[|｜][^|｜<>\s]{1,40}[|｜]>|<\/?SYS>>|\/?(?:s|start_of_turn|end_of_turn|tool_calls?|tool_response|function_calls|think|unused\d+)>)|\[(?=\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\])/gi;

export function breakControlTokens(text: string): string {
  return text.replace(TOKENS, (first) => (first === "<" ? "‹" : "⟦"));
}
