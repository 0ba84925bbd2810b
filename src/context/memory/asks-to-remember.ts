/**
 * Whether an input asks to remember or forget something, in the common languages. Only then a session without memories offers the tool,
 * so that no other session pays for it. A needless match costs a few tokens; a missed one needs `/memory on`.
 */
const CUES =
  /\b(?:remember|memori[sz]e|don['’]?t forget|do not forget|forget|keep in mind|bear in mind|(?:make|take) a note|note (?:that|to self|this|down)|your memory|to memory|from now on|in (?:the )?future|next time)\b|\b(?:merke?\s+dir|vergiss|denk(?:e)? daran|in zukunft|souviens|rappelle-toi|retiens|oublie|désormais|recuerda|olvid|en adelante|ricorda|dimentica|lembr[ae]|esque[çc]|onthoud|vergeet)|запомни|забудь|zapami[ęe]taj|zapomnij|记住|记得|忘记|忘掉|記住|覚えて|忘れて|기억해|잊어/i;

export function asksToRemember(input: string): boolean {
  return CUES.test(input);
}

/** What a person says about themselves or about how they want things, and not about the work at hand. */
const LASTING =
  /\b(?:i|we)\s+(?:always|never|usually|prefer|hate|want you to|work (?:at|for|on|with))\b|^(?:please,?\s+)?(?:always|never)\b|\b(?:should|must) (?:always|never)\b|\bmy (?:name|team|company|editor|shell|time ?zone|pronouns) (?:is|are)\b|\bcall me\b/i;
const MOST_CHARACTERS = 200;

/** What a note does not need. */
const REQUEST =
  /^(?:please,?\s+)?(?:remember|note|don['’]?t forget|do not forget|keep in mind|bear in mind)(?:\s+that|\s+this|\s+to)?[:,]?\s+/i;

/** The sentence of an input that may hold for longer, without the request to remember it; undefined without one. */
export function lastingStatement(input: string): string | undefined {
  if (input.length > 4_000) return undefined;
  const sentences = input.split(/(?<=[.!?])\s+|\n+/).map((sentence) => sentence.trim());
  const found = sentences.find((sentence) => {
    if (sentence === "" || sentence.length > MOST_CHARACTERS || sentence.endsWith("?")) return false;
    return REQUEST.test(sentence) || LASTING.test(sentence);
  });
  return found?.replace(REQUEST, "");
}
