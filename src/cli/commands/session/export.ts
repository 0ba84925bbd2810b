import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { UsageError } from "../../../base/usage-error.js";
import { exportJsonl } from "../../../sessions/transfer/export-jsonl.js";
import { exportMarkdown } from "../../../sessions/transfer/export-markdown.js";
import { EXIT } from "../../exit-codes.js";
import { loadRedact } from "./load-redact.js";
import type { SessionAction } from "./session-action.js";

export const action: SessionAction = {
  flags: [
    { name: "format", short: "f", value: "FORMAT", help: "jsonl: every event (default); markdown: to read" },
    { name: "output", short: "o", value: "FILE", help: "into a new file instead of standard output" },
  ],
  async run(flags, sessions) {
    const record = await sessions.named(flags);
    const format = flags.text("format") ?? (/\.(md|markdown)$/.test(flags.text("output") ?? "") ? "markdown" : "jsonl");
    if (!["jsonl", "markdown", "md"].includes(format))
      throw new UsageError(`--format: expected jsonl or markdown, got "${format}".`);
    const redact = await loadRedact();
    const events = sessions.store.events(record.id);
    const pieces =
      format === "jsonl" ? lines(exportJsonl(record, events, { redact })) : exportMarkdown(record, events, { redact });
    const file = flags.text("output");
    if (file === undefined) {
      for await (const piece of pieces) await sessions.write(piece);
      return EXIT.answered;
    }
    await writeFile(file, pieces);
    sessions.print(flags, { id: record.id, file, format }, () => `${record.id} was written to ${file}.`);
    return EXIT.answered;
  },
};

async function* lines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield `${text}\n`;
}

/** Never over a file that is there. */
async function writeFile(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 });
  const done = finished(stream);
  // The failure is told by the await below, also when it comes while the pieces are still being read.
  done.catch(() => {});
  for await (const piece of pieces) {
    if (!stream.write(piece)) await Promise.race([done, new Promise<void>((resolve) => stream.once("drain", resolve))]);
  }
  stream.end();
  try {
    await done;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new UsageError(`${path} is there already; choose another name.`);
    throw error;
  }
}
