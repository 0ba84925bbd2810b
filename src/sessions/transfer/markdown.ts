/** Puts text of unknown content into Markdown. */

/** In a fence that no line of it can end. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

export function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/** Markdown, with its open fence and comment closed. */
export function closed(text: string): string {
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const run = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    const mark = run?.[1];
    if (mark === undefined) continue;
    if (fence === undefined) {
      // Backticks after the opening run make it a code span.
      if (mark.startsWith("~") || !run?.[2]?.includes("`")) fence = mark;
    } else if (mark.startsWith(fence) && run?.[2]?.trim() === "") {
      fence = undefined;
    }
  }
  if (fence !== undefined) return `${text}\n${fence}`;
  return text.lastIndexOf("<!--") > text.lastIndexOf("-->") ? `${text}\n-->` : text;
}
