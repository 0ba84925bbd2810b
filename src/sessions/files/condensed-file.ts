/**
 * `condensed.jsonl` of one session: the messages of whole turns, so that a resume need not read their events. A line is a stretch.
 *
 * 1. Stretches follow each other without gaps. The first begins after the expired events, or it holds a summary.
 * 2. A line has a tag over its content and the links of the events that it lies between. The last one's link is that of its event in the
 *    log, where reading continues.
 * 3. It is a copy. If anything is wrong with it, it is deleted and the log is read.
 * 4. It is deleted when the content of an event expires, and when a summary makes it unnecessary.
 *
 * A caller that adds or discards holds the session's lock.
 */
import { rm, writeFile } from "node:fs/promises";
import { StoreError, type Stretch } from "../store.js";
import { errnoOf, guarded } from "./file-errors.js";
import { LineFile } from "./line-file.js";
import type { OpenedLog } from "./open-session.js";

interface Header {
  readonly after: number;
  readonly to: number;
  /** The links of those two events. */
  readonly previous: string;
  readonly link: string;
  readonly tag: string;
}

const HEADER =
  /^\{"after":(\d{1,15}),"to":(\d{1,15}),"previous":"([0-9a-f]{32})","link":"([0-9a-f]{32})","tag":"([0-9a-f]{32})","content":/;

export class CondensedFile {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async end(): Promise<number | undefined> {
    return this.#reading(async (file) => {
      for await (const { text } of file.linesFromEnd()) return headerOf(text)?.header.to;
      return undefined;
    });
  }

  /** undefined when something is wrong with it. */
  async read({ reader, chain, expired_to }: OpenedLog): Promise<readonly Stretch[] | undefined> {
    const found: Stretch[] = [];
    let last: Header | undefined;
    const isWhole = await this.#reading(async (file) => {
      for await (const lines of file.lines(0)) {
        for (const { text } of lines) {
          const line = headerOf(text);
          if (line === undefined || chain.stretch(line.header, line.content) !== line.header.tag) return false;
          const { after, to, previous } = line.header;
          // The tag says that this is what was added.
          const stretch = { after, to, ...(JSON.parse(line.content) as Omit<Stretch, "after" | "to">) };
          const begins = last ?? {
            to: stretch.replacesEarlier ? Math.max(after, expired_to) : expired_to,
            link: previous,
          };
          if (after !== begins.to || previous !== begins.link) return false;
          found.push(stretch);
          last = line.header;
        }
      }
      return last === undefined || (await linkOf(reader, last.to)) === last.link;
    });
    return isWhole === false ? undefined : found;
  }

  async add({ reader, chain, expired_to }: OpenedLog, { after, to, ...content }: Stretch): Promise<void> {
    const end = await this.end();
    const follows = content.replacesEarlier ? after >= Math.max(expired_to, end ?? 0) : after === (end ?? expired_to);
    const [previous, link] = [await reader.linkAt(after), await reader.linkAt(to)];
    if (!follows || to <= after || previous === undefined || link === undefined) {
      throw new StoreError("conflict", `The stretch behind event ${after} does not follow the one before it.`);
    }
    if (content.replacesEarlier) await this.discard();
    const json = JSON.stringify(content);
    const place = { after, to, previous, link };
    const header = JSON.stringify({ ...place, tag: chain.stretch(place, json) });
    await this.#append(`${header.slice(0, -1)},"content":${json}}\n`);
  }

  async discard(): Promise<void> {
    await guarded(this.#path, () => rm(this.#path, { force: true }));
  }

  async #append(line: string): Promise<void> {
    await guarded(this.#path, async () => {
      await writeFile(this.#path, "", { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
        if (errnoOf(error) !== "EEXIST") throw error;
      });
      const file = await LineFile.open(this.#path, "append");
      try {
        await file.append(line);
      } finally {
        await file.close();
      }
    });
  }

  /** undefined when it does not exist. */
  async #reading<T>(work: (file: LineFile) => Promise<T>): Promise<T | undefined> {
    let file: LineFile;
    try {
      file = await LineFile.open(this.#path, "read");
    } catch (error) {
      if (error instanceof StoreError && error.code === "damaged") return undefined;
      throw error;
    }
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }
}

/** Also undefined where the log is damaged: the reader of the log reports the damage. */
async function linkOf(reader: OpenedLog["reader"], event: number): Promise<string | undefined> {
  try {
    return await reader.linkAt(event);
  } catch (error) {
    if (error instanceof StoreError && error.code === "damaged") return undefined;
    throw error;
  }
}

function headerOf(line: string): { readonly header: Header; readonly content: string } | undefined {
  const found = HEADER.exec(line);
  if (found === null) return undefined;
  const [start, after, to, previous, link, tag] = found as unknown as [string, string, string, string, string, string];
  return {
    header: { after: Number(after), to: Number(to), previous, link, tag },
    content: line.slice(start.length, -1),
  };
}
