/** What stands in the block that delimits what a tool brought; throws when the text is not one whole such block. */
export function insideBlock(text: string): string {
  const match = /^<untrusted-([a-z]{16}) kind="tool-result" source="[^"]*">\n([\s\S]*)\n<\/untrusted-\1>$/.exec(text);
  if (match?.[2] === undefined) throw new Error(`not delimited: ${text}`);
  return match[2];
}

/** The same for every block in some text, for whoever compares a request as a whole. */
export function withoutBlocks(text: string): string {
  return text.replace(/<untrusted-([a-z]{16}) kind="tool-result" source="[^"]*">\n([\s\S]*?)\n<\/untrusted-\1>/g, "$2");
}
