/**
 * Lines such as `// ... rest of the code ...` that a model writes instead of text. In a file they would replace the text that they
 * stand for.
 */
const OMISSION =
  /^\s*(?:\/\/|\/\*|#|--|;|%|<!--|\{\/\*|\*|"""|')?\s*[([]?(?:\.{3}|…)\s*[([]?(?:the\s+)?(?:rest|remaining|remainder|existing|other|previous|same|unchanged|omitted|keep)\b[^"'`{}=;]*(?:\*\/\}?|-->)?\s*$/i;

/** The first such line of `text` that `quoted` does not contain. */
export function omission(text: string, quoted: string): string | undefined {
  if (!text.includes("...") && !text.includes("…")) return undefined;
  const line = text.split("\n").find((each) => OMISSION.test(each) && !quoted.includes(each.trim()));
  return line?.trim();
}
