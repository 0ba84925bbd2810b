/** The `web_fetch` tool: a page as text, from the public internet only. */
import type { Clock } from "../base/clock.js";
import type { Tool, ToolOutcome } from "../engine/ports.js";
import { ownText, text } from "../protocol/content.js";
import type { HttpClient } from "../system/http-client.js";
import { nodeClock } from "../system/node-clock.js";
import { ArgumentError, Arguments, done, failed, formatCount } from "./file-tool.js";
import { mediaType } from "./web/content-kind.js";
import { WEB_FETCH, WEB_FORMATS } from "./web/definition.js";
import { FetchError } from "./web/fetch-error.js";
import {
  type FetchedPage,
  type FetchLimits,
  type FetchServices,
  type ForeignRedirect,
  fetchPage,
  USUAL_LIMITS,
} from "./web/fetch-page.js";
import { type PageFormat, pageText } from "./web/page-text.js";
import type { WebGuard } from "./web/web-guard.js";

export interface WebFetchOptions {
  readonly guard: WebGuard;
  readonly http: HttpClient;
  /** Marks text from outside; called for each part of a page. */
  readonly wrap: (page: { readonly source: string; readonly kind: string; readonly text: string }) => string;
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly limits?: Partial<FetchLimits>;
}

const DEFAULT_CHARACTERS = 12_000;
const MAX_CHARACTERS = 50_000;
/** Pages of up to five megabytes that one turn keeps. */
const KEPT_PAGES = 8;
/** The limit for an error page. */
const ERROR_CHARACTERS = 2000;

export function createWebFetchTool(options: WebFetchOptions): Tool {
  const services: FetchServices = {
    guard: options.guard,
    http: options.http,
    clock: options.clock ?? nodeClock,
    userAgent: options.userAgent ?? "oxbow (web_fetch)",
    limits: { ...USUAL_LIMITS, ...options.limits },
  };
  const fetchOnce = oncePerState((url, signal) => fetchPage(services, url, signal));
  return {
    ...WEB_FETCH,
    /** The final address, so that the question names the right host. */
    canonical(args) {
      const verdict = typeof args.url === "string" ? services.guard.check(args.url) : undefined;
      return verdict?.allowed ? { ...args, url: verdict.url.href } : args;
    },
    async run(args, { signal, unchanged }) {
      try {
        const view = viewOf(new Arguments(args));
        const answer = await fetchOnce(view.url, signal, unchanged);
        return answer.kind === "redirect" ? redirected(answer, options.wrap) : await show(answer, view, options.wrap);
      } catch (error) {
        if (signal.aborted) return { status: "cancelled", content: [ownText("Cancelled.")] };
        if (error instanceof FetchError || error instanceof ArgumentError) return failed(error.message);
        throw error;
      }
    },
  };
}

type Fetched = FetchedPage | ForeignRedirect;

/**
 * Fetches a page once while nothing changes, also for calls at the same time: the model often reads a page twice, or in parts.
 * A failure or an error page is fetched again.
 */
function oncePerState(fetch: (url: string, signal: AbortSignal) => Promise<Fetched>) {
  const kept = new WeakMap<object, Map<string, Promise<Fetched>>>();
  return async (url: string, signal: AbortSignal, unchanged: object | undefined): Promise<Fetched> => {
    if (unchanged === undefined) return fetch(url, signal);
    const pages = kept.get(unchanged) ?? new Map<string, Promise<Fetched>>();
    kept.set(unchanged, pages);
    const page = pages.get(url) ?? fetch(url, signal);
    pages.set(url, page);
    const [oldest] = pages.keys();
    if (pages.size > KEPT_PAGES && oldest !== undefined) pages.delete(oldest);
    const { status } = await page.catch((error: unknown) => {
      pages.delete(url);
      throw error;
    });
    if (status >= 400) pages.delete(url);
    return page;
  };
}

/** The requested part of a page. */
interface View {
  readonly url: string;
  readonly format: PageFormat;
  readonly offset: number;
  readonly limit: number;
}

function viewOf(args: Arguments): View {
  return {
    url: args.text("url").trim(),
    format: args.choice("format", WEB_FORMATS, "markdown"),
    offset: args.integer("offset", { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 0 }),
    limit: args.integer("limit", { least: 1, most: MAX_CHARACTERS, otherwise: DEFAULT_CHARACTERS }),
  };
}

function redirected({ url, status, target }: ForeignRedirect, wrap: WebFetchOptions["wrap"]): ToolOutcome {
  const lines = [
    `HTTP ${status}: this redirects to another host. Nothing was fetched from there; call web_fetch with its address if you want it.`,
    wrap({ source: url.href, kind: "redirect", text: target }),
  ];
  return done(lines.join("\n"), { url: url.href, status, redirect: target });
}

async function show(page: FetchedPage, view: View, wrap: WebFetchOptions["wrap"]): Promise<ToolOutcome> {
  const { text: whole, cut } = await pageText(page, view.format);
  const source = page.url.href;
  const isError = page.status >= 400;
  const limit = isError ? Math.min(view.limit, ERROR_CHARACTERS) : view.limit;
  if (view.offset > 0 && view.offset >= whole.length) {
    return failed(
      `The page has ${formatCount(whole.length)} characters; offset ${formatCount(view.offset)} is past its end.`,
    );
  }
  const end = partEnd(whole, view.offset, limit);
  const part = whole.slice(view.offset, end);
  const lines = [
    [`HTTP ${page.status}`, mediaType(page.contentType)].filter(Boolean).join(", "),
    part.trim() === "" ? emptiness(page) : wrap({ source, kind: "web_page", text: part }),
    ...notes({ from: view.offset, end, total: whole.length, cut }),
  ];
  const details = {
    url: source,
    status: page.status,
    content_type: page.contentType,
    bytes: page.bytes.length,
    characters: whole.length,
    from: view.offset,
    to: end,
    truncated: end < whole.length || cut,
  };
  return { status: isError ? "error" : "ok", content: [text(lines.join("\n"))], details };
}

/** Cuts at a nearby line end if there is one, and never within a character. */
function partEnd(whole: string, from: number, limit: number): number {
  const end = from + limit;
  if (end >= whole.length) return whole.length;
  const line = whole.lastIndexOf("\n", end - 1) + 1;
  if (line > end - limit / 10) return line;
  const isLowHalf = (whole.charCodeAt(end) & 0xfc00) === 0xdc00;
  return isLowHalf ? Math.max(end - 1, from + 1) : end;
}

function emptiness({ bytes, contentType }: FetchedPage): string {
  if (bytes.length === 0) return "The answer has no content.";
  const needsScript = contentType.includes("html") && bytes.includes("<script");
  return needsScript
    ? "The page has no text: JavaScript builds it, and this tool does not run JavaScript."
    : "The page has no text.";
}

interface Part {
  readonly from: number;
  readonly end: number;
  readonly total: number;
  readonly cut: boolean;
}

function notes({ from, end, total, cut }: Part): readonly string[] {
  const counted = `[Characters ${formatCount(from + 1)}-${formatCount(end)} of ${formatCount(total)}.`;
  return [
    ...(end < total ? [`${counted} Continue with offset ${end}.]`] : []),
    ...(cut ? ["[The page is too long; its end is missing.]"] : []),
  ];
}
