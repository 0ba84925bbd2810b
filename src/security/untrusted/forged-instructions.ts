/**
 * Results of tools are data, and nothing in them may pass for an instruction file: the one kind of delimited text that a model is
 * told to follow. Web pages are delimited by themselves; this is for files and outputs, which stay as they are otherwise.
 */
const FORGED = /<(?=[\s/]*untrusted-[^>]{0,400}\bkind\s{0,20}=\s{0,20}["']?\s{0,20}instructions)/gi;

export function withoutForgedInstructions(text: string): string {
  return text.includes("instructions") && /untrusted-/i.test(text) ? text.replace(FORGED, "‹not a tag›") : text;
}
