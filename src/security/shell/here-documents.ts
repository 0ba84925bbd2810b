/** The bodies of here-documents, which begin on the line after the one that asks for them. */
import type { PendingHereDocument, Source } from "./source.js";
import type { Redirect, Word } from "./syntax.js";
import { Parts, readExpandedText, readWord } from "./words.js";

/** After `<<` or `<<-`: the delimiter. The body is filled in when the line has ended. */
export function readHereDocument(source: Source, redirect: Pick<Redirect, "operator" | "descriptor">): Redirect {
  const word = readWord(source);
  if (word === undefined) source.fail(`"${redirect.operator}" has no delimiter`);
  let delimiter = "";
  let quoted = false;
  for (const part of word.parts) {
    if (part.type !== "literal") source.fail("the delimiter of a here-document is not plain text");
    delimiter += part.value;
    quoted ||= part.quoted;
  }
  if (delimiter.includes("\n")) source.fail("the delimiter of a here-document holds a newline");
  let target: Word = { parts: [], text: "" };
  source.pending.push({
    delimiter,
    expanded: !quoted,
    stripTabs: redirect.operator === "<<-",
    finish: (body) => {
      target = body;
    },
  });
  return {
    ...redirect,
    get target() {
      return target;
    },
  };
}

/** At a newline that ends a line of commands: steps over it and over the bodies that were asked for. */
export function endLine(source: Source): void {
  source.position += 1;
  for (const pending of source.pending.splice(0)) pending.finish(readBody(source, pending));
}

function readBody(source: Source, { delimiter, expanded, stripTabs }: PendingHereDocument): Word {
  const lines: string[] = [];
  for (;;) {
    if (source.position >= source.text.length) source.fail(`the here-document up to "${delimiter}" does not end`);
    const newline = source.text.indexOf("\n", source.position);
    const end = newline < 0 ? source.text.length : newline;
    const line = source.text.slice(source.position, end);
    const stripped = stripTabs ? line.replace(/^\t+/, "") : line;
    source.position = Math.min(end + 1, source.text.length);
    if (stripped === delimiter) break;
    // A joined line could swallow or make up the delimiter.
    if (expanded && /(?:^|[^\\])(?:\\\\)*\\$/.test(line)) source.fail("a line of a here-document ends in a backslash");
    lines.push(stripped);
  }
  const text = lines.map((line) => `${line}\n`).join("");
  return { parts: expanded ? expansions(source, text) : [{ type: "literal", value: text, quoted: true }], text };
}

function expansions(source: Source, text: string): Word["parts"] {
  const body = source.within(text);
  const parts = new Parts();
  for (let character = body.peek(); character !== ""; character = body.peek()) {
    readExpandedText(body, character, parts, "");
  }
  return parts.finish();
}
