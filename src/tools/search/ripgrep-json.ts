/** Reads ripgrep's `--json` output: one message a line, the messages of a file together. */

import { splitLines } from "./line-scanner.js";
import { clipLine, type FoundFile, type FoundLine, MAX_LINE_CHARACTERS, type SearchRequest } from "./search-request.js";

/** JSON that can hold any bytes. */
type Data = { readonly text: string } | { readonly bytes: string };

interface LineMessage {
  readonly data: {
    readonly lines: Data;
    readonly line_number: number;
    readonly submatches: readonly { readonly start: number }[];
  };
}

interface FileMessage {
  readonly data: { readonly path: Data; readonly binary_offset?: number | null };
}

const NEWLINE = 10;

type Settings = Pick<SearchRequest, "mode" | "context" | "limit" | "multiline">;

export class RipgrepJson {
  readonly #settings: Settings;
  readonly #done: (file: FoundFile, isBinary: boolean) => void;
  #rest: Buffer[] = [];
  #path = "";
  #lines: FoundLine[] = [];
  #count = 0;
  #lastMatch = 0;

  constructor(settings: Settings, done: (file: FoundFile, isBinary: boolean) => void) {
    this.#settings = settings;
    this.#done = done;
  }

  /** The count so far of the incomplete file. */
  get pending(): number {
    return this.#count;
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const last = chunk.subarray(from, end);
      this.#message(this.#rest.length === 0 ? last : Buffer.concat([...this.#rest, last]));
      this.#rest = [];
      from = end + 1;
    }
    if (from < chunk.length) this.#rest.push(chunk.subarray(from));
  }

  /** Emits the incomplete file so far. */
  flush(): void {
    if (this.#count > 0) this.#done({ path: this.#path, count: this.#count, lines: this.#lines }, false);
    this.#count = 0;
  }

  #message(record: Buffer): void {
    // Checks the kind before parsing, because a broad search discards most of the text.
    switch (record.toString("latin1", 9, 12)) {
      case "beg":
        this.#path = pathOf((JSON.parse(record.toString()) as FileMessage).data.path);
        this.#lines = [];
        this.#count = 0;
        this.#lastMatch = 0;
        break;
      case "mat":
        this.#match(record);
        break;
      case "con":
        if (this.#count <= this.#settings.limit) this.#context(JSON.parse(record.toString()) as LineMessage);
        break;
      case "end": {
        const offset = (JSON.parse(record.toString()) as FileMessage).data.binary_offset;
        const isBinary = offset !== null && offset !== undefined;
        this.#done({ path: this.#path, count: this.#count, lines: this.#lines }, isBinary);
        this.#count = 0;
        break;
      }
    }
  }

  #match(record: Buffer): void {
    const { mode, limit, multiline } = this.#settings;
    if (!multiline && (mode !== "content" || this.#count > limit)) {
      this.#count++;
      return;
    }
    const { data } = JSON.parse(record.toString()) as LineMessage;
    if (mode !== "content") {
      this.#count += data.submatches.length;
      return;
    }
    const text = textOf(data.lines);
    const columns = firstColumns(text, data.submatches);
    splitLines(text === "" ? "\n" : text).forEach((line, index) => {
      this.#count++;
      if (this.#count > limit) return;
      this.#lastMatch = data.line_number + index;
      this.#lines.push({ number: this.#lastMatch, text: clipLine(line, columns(index)), isMatch: true });
    });
  }

  #context({ data }: LineMessage): void {
    const isFull = this.#count >= this.#settings.limit;
    if (isFull && data.line_number > this.#lastMatch + this.#settings.context) return;
    const [line = ""] = splitLines(textOf(data.lines));
    this.#lines.push({ number: data.line_number, text: clipLine(line, 0), isMatch: false });
  }
}

function pathOf(data: Data): string {
  return textOf(data).replace(/^\.\//, "");
}

function textOf(data: Data): string {
  return "text" in data ? data.text : Buffer.from(data.bytes, "base64").toString("utf8");
}

/** The column of the first match in each line; ripgrep counts bytes. Only long lines need it. */
function firstColumns(text: string, submatches: readonly { readonly start: number }[]): (line: number) => number {
  if (text.length <= MAX_LINE_CHARACTERS) return () => 0;
  const bytes = Buffer.from(text);
  const columns = new Map<number, number>();
  for (const { start } of submatches) {
    const before = bytes.toString("utf8", 0, start);
    const line = before.split("\n").length - 1;
    if (!columns.has(line)) columns.set(line, before.length - (before.lastIndexOf("\n") + 1));
    // For more lines the columns are not worth the time.
    if (columns.size > 100) break;
  }
  return (line) => columns.get(line) ?? 0;
}
