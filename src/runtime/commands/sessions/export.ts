import { createWriteStream, existsSync } from "node:fs";
import { resolve } from "node:path";
import { finished } from "node:stream/promises";
import { safeText } from "../../../base/terminal-text.js";
import { UsageError } from "../../../base/usage-error.js";
import { exportHtml } from "../../../sessions/transfer/export-html.js";
import { exportJsonl } from "../../../sessions/transfer/export-jsonl.js";
import { exportMarkdown } from "../../../sessions/transfer/export-markdown.js";
import { HTML_PARTS, type HtmlPart } from "../../../sessions/transfer/html-parts.js";
import { loadRedactor } from "../../sessions/load-redactor.js";
import { named, type SessionAction } from "./port.js";

export const exportSession: SessionAction = async (args, port, { write, screen, surface }) => {
  const record = await named(args.text("ID"), port);
  const wanted = args.hasFlag("html") ? "html" : args.flag("format");
  // A conversation has no pipe: there it is a file to read, unless a client asks for the text itself.
  const asked = args.flag("output") ?? (surface === "slash" ? freeName(port.base, record.id, wanted) : undefined);
  const output = asked === "-" ? undefined : asked;
  const format = wanted ?? formatOf(output);
  if (!["jsonl", "markdown", "md", "html"].includes(format))
    throw new UsageError(`--format: expected jsonl, markdown or html, got "${format}".`);
  const without = leftOut(args.flags("without"));
  if (without.size > 0 && format !== "html") throw new UsageError("--without is for --html.");
  const redactor = await loadRedactor();
  const events = port.store.events(record.id);
  const pieces =
    format === "jsonl"
      ? lines(exportJsonl(record, events, { redactor }))
      : format === "html"
        ? exportHtml(record, events, { redactor, without })
        : exportMarkdown(record, events, { redactor });
  if (output === undefined) {
    // A file or another program gets every character; a terminal must not obey them.
    for await (const piece of pieces) await write(screen === undefined ? piece : safeText(piece));
    return { text: "", value: { id: record.id, format } };
  }
  const file = resolve(port.base, output);
  await writeFile(file, pieces);
  return { text: `The conversation is in ${file}.`, value: { id: record.id, file, format } };
};

/** The format that the name of a file says. */
function formatOf(file = ""): string {
  if (/\.html?$/.test(file)) return "html";
  return /\.(md|markdown)$/.test(file) ? "markdown" : "jsonl";
}

function leftOut(typed: readonly string[]): ReadonlySet<HtmlPart> {
  const words = typed.flatMap((list) => list.split(",")).filter((word) => word !== "");
  return new Set(
    words.map((word) => {
      const part = HTML_PARTS.find((each) => each === word);
      if (part === undefined) throw new UsageError(`--without: expected ${HTML_PARTS.join(", ")}, got "${word}".`);
      return part;
    }),
  );
}

/** A name that no file has yet. */
function freeName(folder: string, id: string, format = "markdown"): string {
  const extension = format === "jsonl" || format === "html" ? format : "md";
  for (let copy = 1; ; copy++) {
    const name = `oxbow-${id}${copy === 1 ? "" : `-${copy}`}.${extension}`;
    if (!existsSync(resolve(folder, name))) return name;
  }
}

async function* lines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield `${text}\n`;
}

/** Never overwrites a file. */
async function writeFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 });
  const done = finished(stream);
  // The await below reports a failure, also one that comes while the pieces are still being read.
  done.catch(() => {});
  for await (const piece of pieces) {
    if (!stream.write(piece)) await Promise.race([done, new Promise<void>((resolve) => stream.once("drain", resolve))]);
  }
  stream.end();
  try {
    await done;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new UsageError(`${path} already exists; choose another name.`);
    throw error;
  }
}
