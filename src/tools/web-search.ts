/** The `web_search` tool: asks the provider of the model, or a search engine, and lists what was found with its addresses. */

import type { ToolOutcome } from "../engine/ports.js";
import { ownText, text } from "../protocol/content.js";
import type { JsonObject } from "../protocol/json.js";
import { HttpError } from "../system/http-error.js";
import { ArgumentError, Arguments, counted, failed } from "./file-tool.js";
import { FetchError } from "./web/fetch-error.js";
import type { FoundPage } from "./web/search-engines.js";

export interface SearchRequest {
  readonly query: string;
  readonly count: number;
}

export interface Found {
  /** Says who searched. */
  readonly by: string;
  /** Holds what a model wrote about the pages. */
  readonly answer?: string;
  readonly pages: readonly FoundPage[];
}

export interface WebSearchOptions {
  /** Throws a FetchError with a sentence for the model. */
  readonly search: (request: SearchRequest, signal: AbortSignal) => Promise<Found>;
  /** Marks text from outside. */
  readonly wrap: (found: { readonly source: string; readonly kind: string; readonly text: string }) => string;
}

const USUAL_COUNT = 8;
const MOST_PAGES = 20;
/** Engines refuse longer ones. */
const LONGEST_QUERY = 400;

export async function webSearch(
  given: JsonObject,
  signal: AbortSignal,
  { search, wrap }: WebSearchOptions,
): Promise<ToolOutcome> {
  try {
    const args = new Arguments(given);
    const query = args.text("query").trim();
    const count = args.integer("count", { least: 1, most: MOST_PAGES, otherwise: USUAL_COUNT });
    if (query === "") throw new ArgumentError("The query is empty.");
    if (query.length > LONGEST_QUERY)
      throw new ArgumentError(`The query has ${query.length} characters; at most ${LONGEST_QUERY} are searched for.`);
    const found = await search({ query, count }, signal);
    return shown(found, query, wrap);
  } catch (error) {
    if (signal.aborted) return { status: "cancelled", content: [ownText("Cancelled.")] };
    if (error instanceof FetchError || error instanceof ArgumentError) return failed(error.message);
    if (error instanceof HttpError) return failed(`The search failed: ${error.message}.`);
    throw error;
  }
}

function shown({ by, answer = "", pages }: Found, query: string, wrap: WebSearchOptions["wrap"]): ToolOutcome {
  const details = { query, by, pages: pages.map(({ title, url }) => ({ title, url })) };
  if (answer.trim() === "" && pages.length === 0)
    return { status: "ok", content: [ownText(`${by} found nothing for this query.`)], details };
  const list = pages.map(({ title, url, excerpt }, index) =>
    [`[${index + 1}] ${title || url}`, url, excerpt].filter((line) => line !== "").join("\n"),
  );
  const parts = [withMarks(answer, pages), ...(answer.trim() !== "" && list.length > 0 ? ["Sources:"] : []), ...list];
  const whole = parts.filter((part) => part !== "").join("\n\n");
  const unchecked = pages.length === 0 ? " This answer names no page: check it before you rely on it." : "";
  const lines = [
    `${by} found ${counted(pages.length, "page")}.${unchecked}`,
    wrap({ source: by, kind: "web_search", text: whole }),
  ];
  return { status: "ok", content: [text(lines.join("\n"))], details };
}

/** The answer with the numbers of the pages behind each passage that rests on them, unless it names the page itself. */
function withMarks(answer: string, pages: readonly FoundPage[]): string {
  const marks = new Map<number, string>();
  for (const [index, { url, cites = [] }] of pages.entries()) {
    for (const passage of new Set(cites.map((each) => each.trimEnd()))) {
      const at = answer.indexOf(passage);
      if (passage === "" || at === -1 || passage.includes(url)) continue;
      const end = at + passage.length;
      marks.set(end, `${marks.get(end) ?? " "}[${index + 1}]`);
    }
  }
  const ends = [...marks.keys()].sort((one, other) => one - other);
  const pieces = ends.map((end, index) => `${answer.slice(ends[index - 1] ?? 0, end)}${marks.get(end)}`);
  return `${pieces.join("")}${answer.slice(ends.at(-1) ?? 0)}`.trim();
}
