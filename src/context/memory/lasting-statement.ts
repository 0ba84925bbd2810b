/**
 * Finds what an input says that may hold for longer than the work at hand. It knows phrases of the common languages and asks no model: `/memory extract`
 * does, in any language.
 */
/** Matches what a person says about themselves or about how they want things, and not about the work at hand; in the common languages. */
const LASTING: readonly RegExp[] = [
  /\b(?:i|we)\s+(?:(?:strongly |really |usually )?(?:prefer|hate)\b|want you to (?:always|never)\b|(?:always|never|usually) (?:use|prefer|write|commit|run|format|indent|name|test|squash|rebase|merge|deploy|develop|work|want|like|put|keep|add|sign|push|review|document)\b)|\bi work (?:at|for|as|on|with|from)\b/i,
  /^(?:please,?\s+)?(?:always|never) (?!mind\b|ever\b|again\b|been\b|an?\b|the\b|in\b|on\b|\p{L}*[^s\P{L}]s\b|\p{L}+(?:ed|ing)\b)\p{L}+ \p{L}|\byou (?:should|must) (?:always|never)\b|\bmy (?:name|team|company|editor|shell|time ?zone|pronouns) (?:is|are)\b|^(?:please,?\s+|you can )?call me (?!back\b|when\b|if\b|maybe\b|crazy\b)/iu,
  /^(?:bitte,?\s+)?(?:immer|niemals|nie)\s|\b(?:ich|wir)\s+(?:bevorzugen?|hassen?|arbeite[n]? (?:bei|für|an|mit)|(?!bekomm|krieg|seh|erhalt|hab|hatt|lande)\p{L}+ (?:immer|nie|niemals|lieber)\b)|\bmein(?:e)? (?:name|team|firma|editor|shell|zeitzone) (?:ist|heißt)\b|\bnenn(?:e)? mich\b/iu,
  /^(?:toujours|jamais|ne\s+\p{L}+\s+jamais)\s|\bje (?:préfère|déteste|travaille (?:chez|pour|sur|avec)|(?!reçois|vois|obtiens|tombe)\p{L}+ toujours)|\bj['’]utilise toujours|\bje m['’]appelle|\bappelle-moi/iu,
  /^(?:por favor,?\s+)?(?:siempre|nunca|jamás|sempre)\s|\b(?:prefiero|prefiro|detesto|odio|trabajo (?:en|para|con)|trabalho (?:em|para|com))\s|\bme llamo|\bllámame|\bme chamo|\bme chame/iu,
  /^(?:sempre|mai|non\s+\p{L}+\s+mai)\s|\b(?:preferisco|lavoro (?:per|con|a))\s|\bmi chiamo|\bchiamami/iu,
  /^(?:altijd|nooit)\s|\bik (?:heb liever|(?!krijg|zie|heb)\p{L}+ (?:altijd|nooit)|werk (?:bij|voor|met))|\bmijn naam is|\bnoem me/iu,
  /^(?:zawsze|nigdy|всегда|никогда)\s|\bwolę\s|(?:^|\s)(?:я предпочитаю|меня зовут|зови меня)/iu,
  /我(?:更?喜欢|更?喜歡|总是|總是|从不|從不|讨厌|討厭|叫)|^(?:请|請)?(?:总是|總是|始终|始終|永远不要|永遠不要)|^(?:いつも|常に)|(?:が|の方が)好き|と呼んで|^(?:항상|절대)|선호(?:해|합니다)|라고 불러/u,
];
const MOST_CHARACTERS = 200;

/** Code, logs and what others said: the person pasted it. */
const PASTED =
  /[{};]|=>|\(\)|^\s*(?:>|\||[$#%] |at\s|\d{4}-\d\d-\d\d|\[|["“«„])|\b\w*(?:Error|Exception|WARN|INFO|DEBUG)\b/;

/** Matches what a note does not need. "Remember to …" is mostly about the work at hand, and so is "Note that …". */
const REQUEST =
  /^(?:please,?\s+)?(?:remember|don['’]?t forget|do not forget|keep in mind|bear in mind|(?:make|take) a note|note (?:down|to self))(?!\s+to\b|\s+(?:the|when|what|how|why|me|you|if)\b)(?:\s+that|\s+this)?[:,]?\s+/i;
/** The same in other languages; what follows is the note. */
const OTHER_REQUEST =
  /^(?:bitte,?\s+)?(?:merke?\s+dir|denke?\s+daran|vergiss\s+nicht)(?:\s+bitte)?,?(?:\s+dass?)?[:,]?\s+|^(?:souviens-toi|rappelle-toi|n['’]oublie\s+pas|retiens)(?:\s+que|\s+de)?[:,]?\s+|^(?:recuerda|no\s+olvides|lembre(?:-se)?|não\s+esqueça|ricorda(?:ti)?|non\s+dimenticare)(?:\s+que|\s+di|\s+che|\s+de)?[:,]?\s+|^onthoud(?:\s+dat)?[:,]?\s+|^(?:zapamiętaj|запомни)(?:,?\s+że|,?\s+что)?[:,]?\s+|^(?:请|請)?(?:记住|記住|记得|記得)[:：，,]?\s*|^(?:기억해|覚えて(?:おいて)?)(?:ください|줘|주세요)?[:：、，,]?\s*/iu;
/** A sentence ends with these, also without a blank behind it where the script has none. */
const SENTENCES = /(?<=[.!?])\s+|(?<=[。！？])|\n+/;

/** The sentence of an input that may hold for longer, without the request to remember it; undefined without one. */
export function lastingStatement(input: string): string | undefined {
  if (input.length > 4_000) return undefined;
  const prose = input.replaceAll(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|$(?![\s\S]))/gm, "\n");
  const sentences = prose.split(SENTENCES).map((sentence) => sentence.trim());
  const found = sentences.find((sentence) => {
    if (sentence === "" || sentence.length > MOST_CHARACTERS || /[?？]$/.test(sentence)) return false;
    const patterns = [REQUEST, OTHER_REQUEST, ...(PASTED.test(sentence) ? [] : LASTING)];
    return patterns.some((pattern) => pattern.test(sentence));
  });
  const note = found?.replace(REQUEST, "").replace(OTHER_REQUEST, "").trim();
  return note === "" ? found : note;
}
