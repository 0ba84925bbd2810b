/**
 * Finds inputs that ask to remember or forget something, in the common languages. Only then a session without memories offers the tool,
 * so that no other session pays for it. A needless match costs a few tokens; a missed one needs `/memory on`.
 */
const CUES =
  /\b(?:remember|memori[sz]e|don['’]?t forget|do not forget|forget|keep in mind|bear in mind|(?:make|take) a note|note (?:that|to self|this|down)|your memory|to memory|from now on|in (?:the )?future|next time)\b|\b(?:merke?\s+dir|vergiss|denk(?:e)? daran|in zukunft|souviens|rappelle-toi|retiens|oublie|désormais|recuerda|olvid|en adelante|ricorda|dimentica|lembr[ae]|esque[çc]|onthoud|vergeet)|запомни|забудь|zapami[ęe]taj|zapomnij|记住|记得|忘记|忘掉|記住|覚えて|忘れて|기억해|잊어/i;

export function asksToRemember(input: string): boolean {
  return CUES.test(input);
}
