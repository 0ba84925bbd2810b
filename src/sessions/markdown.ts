/** Embeds text from users, models and tools in Markdown so that it cannot change the text around it. */

/** On one line, between as many backticks as it takes. */
export function codeSpan(text: string): string {
  if (text === "") return "";
  const ticks = "`".repeat(longestTicks(text) + 1);
  const pad = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${ticks}${pad}${text}${pad}${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** A quote ends at its end, even with something open in it. */
export function quote(text: string): string {
  return text.replaceAll(/^/gm, "> ").replaceAll(/^> $/gm, ">");
}

/** In a fence that no line of it can end. */
export function fenced(text: string, language: string): string {
  const fence = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** Code by indentation has no end mark that its text could hold. */
export function codeBlock(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "    ");
}

/** Lines that look like a turn's heading would be counted as one when the recording is continued. */
const TURN_LINE = /^(?=### Turn \d+$)/gm;

export function escapeTurnLines(markdown: string): string {
  return markdown.replaceAll(TURN_LINE, "\\");
}

/** HTML that runs to its end mark, through blank lines and headings. */
const HTML_BLOCKS: readonly (readonly [begin: RegExp, closing: string])[] = [
  [/^ {0,3}<!--/, "-->"],
  [/^ {0,3}<script(?=\s|>|$)/i, "</script>"],
  [/^ {0,3}<pre(?=\s|>|$)/i, "</pre>"],
  [/^ {0,3}<style(?=\s|>|$)/i, "</style>"],
  [/^ {0,3}<textarea(?=\s|>|$)/i, "</textarea>"],
  [/^ {0,3}<\?/, "?>"],
  [/^ {0,3}<!\[CDATA\[/, "]]>"],
  [/^ {0,3}<![A-Z]/i, ">"],
];

/** Ends a fence or an HTML block that the text left open, as a cut-off answer does: otherwise it would include all that follows. */
export function closeOpenBlocks(markdown: string): string {
  let open: { readonly isEnd: (line: string) => boolean; readonly closing: string } | undefined;
  for (const line of markdown.split("\n")) {
    if (open !== undefined) {
      if (open.isEnd(line)) open = undefined;
      continue;
    }
    open = openedFence(line) ?? openedHtml(line);
  }
  return open === undefined ? markdown : `${markdown.replace(/\n$/, "")}\n${open.closing}`;
}

function openedFence(line: string) {
  const [, indent = "", fence = "", info = ""] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (fence === "" || (fence.startsWith("`") && info.includes("`"))) return undefined;
  const end = new RegExp(`^ {0,3}${fence.charAt(0)}{${fence.length},}\\s*$`);
  // With the indentation of its beginning it is the end in a list item too.
  return { isEnd: (next: string) => end.test(next), closing: indent + fence };
}

function openedHtml(line: string) {
  const block = HTML_BLOCKS.find(([begin]) => begin.test(line));
  if (block === undefined) return undefined;
  const [begin, closing] = block;
  const isEnd = (next: string) => next.toLowerCase().includes(closing.toLowerCase());
  // The end may be on the line of the beginning.
  return isEnd(line.replace(begin, "")) ? undefined : { isEnd, closing };
}
