import type { RecordedRequest } from "../../src/testkit/index.js";

/** Tells what stands in the block that delimits what a tool brought; throws when the text is not one whole such block. */
export function insideBlock(text: string): string {
  const match = /^<untrusted-([a-z]{3})>\n([\s\S]*)\n<\/untrusted-\1>$/.exec(text);
  if (match?.[2] === undefined) throw new Error(`not delimited: ${text}`);
  return match[2];
}

/** The texts of all tool results in a request on Anthropic's wire, in order. */
export function resultTexts(request: RecordedRequest | undefined): readonly string[] {
  const body = request?.body as { messages?: readonly { content: readonly Block[] }[] } | undefined;
  const blocks = (body?.messages ?? []).flatMap(({ content }) => content);
  return blocks.flatMap(({ type, content = [] }) =>
    type === "tool_result" ? content.map(({ text = "" }) => text) : [],
  );
}

interface Block {
  readonly type: string;
  readonly content?: readonly { readonly text?: string }[];
}
