/**
 * Results of tools are data, and nothing in them may pass for a file that the user approved: the one kind of delimited text that the
 * prompt tells a model to follow. This holds also where results are sent without marks.
 */
const FORGED = /<(?=[\s/]*approved-)/gi;

export function withoutForgedInstructions(text: string): string {
  return text.includes("<") ? text.replace(FORGED, "‹not a tag›") : text;
}
