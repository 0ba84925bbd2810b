/**
 * A session as one HTML file to show to others.
 *
 * 1. It needs no server and loads nothing: no script runs in it, and its policy forbids every request.
 * 2. Every value is escaped by `html` where it enters the page; only what `html` itself made passes as it is. Control characters
 *    and characters that reorder text are taken out.
 * 3. Secrets are redacted, and the parts that the person names are left out.
 * 4. One turn is held at a time.
 */
import { createHash } from "node:crypto";
import { capText, shorten } from "../../base/cap-text.js";
import { safeLine, safeText } from "../../base/terminal-text.js";
import { formatStats, turnStats } from "../../base/turn-stats.js";
import { AnswerEnds } from "../../protocol/answer-ends.js";
import type { InputContent } from "../../protocol/content.js";
import type { Envelope, EnvelopeOf } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { CallId } from "../../protocol/ids.js";
import { type Redactor, redactEvents } from "../redacted-events.js";
import type { SessionRecord } from "../store.js";
import type { HtmlPart } from "./html-parts.js";

export interface HtmlOptions {
  readonly redactor: Redactor;
  readonly without?: ReadonlySet<HtmlPart>;
}

/** Pieces of the page. */
export async function* exportHtml(
  record: SessionRecord,
  events: AsyncIterable<Envelope>,
  { redactor, without = new Set() }: HtmlOptions,
): AsyncGenerator<string> {
  const title = safeLine(redactor.redact(record.title ?? record.id));
  yield head(title).markup;
  yield heading(record, title, { redactor, without }).markup;
  const page = new Page(without);
  for await (const event of redactEvents(events, redactor)) {
    const made = page.take(event);
    if (made !== undefined) yield made.markup;
  }
  yield page.end().markup;
  yield "</main>\n</body>\n</html>\n";
}

/** Markup that `html` made. */
class Markup {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

type Value = string | number | Markup | undefined | readonly Value[];

/** Escapes every value but markup; undefined is nothing. */
function html(texts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(texts.map((text, index) => `${text}${index < values.length ? shown(values[index]) : ""}`).join(""));
}

function shown(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Markup) return value.markup;
  if (Array.isArray(value)) return value.map(shown).join("");
  return safeText(String(value)).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `:root{color-scheme:light dark;--back:#fbfaf8;--front:#1d1d1f;--soft:#6b6a67;--line:#e2dfd9;--card:#fff;--user:#eef3fb;--mark:#2a62c9;--add:#1c7c3c;--del:#b3261e}
@media(prefers-color-scheme:dark){:root{--back:#161618;--front:#e8e6e3;--soft:#9b9894;--line:#2e2e32;--card:#1e1e21;--user:#1d2735;--mark:#7ba7f7;--add:#6cc786;--del:#f0837a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--front);font:16px/1.55 system-ui,sans-serif}
main{max-width:56rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem;overflow-wrap:anywhere}
h2{font-size:1rem;margin:2.5rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line);color:var(--soft);font-weight:600}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:0;color:var(--soft);font-size:.875rem}
dt{font-weight:600}
dd{margin:0;overflow-wrap:anywhere}
p.note{color:var(--soft);font-size:.875rem;overflow-wrap:anywhere;margin:.5rem 0}
div.text{white-space:pre-wrap;overflow-wrap:anywhere;margin:.75rem 0}
div.user{background:var(--user);border-radius:.6rem;padding:.7rem .9rem}
pre{margin:.5rem 0;padding:.7rem .9rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem;overflow:auto;max-height:36rem;font:.8125rem/1.5 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
details{margin:.4rem 0;border:1px solid var(--line);border-radius:.5rem;background:var(--card)}
details>*:not(summary){margin-left:.75rem;margin-right:.75rem}
details pre{background:var(--back)}
summary{cursor:pointer;padding:.4rem .75rem;font:.8125rem/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
summary:focus-visible{outline:2px solid var(--mark);outline-offset:1px}
summary b{color:var(--mark)}
.bad{color:var(--del)}
.add{color:var(--add)}
.del{color:var(--del)}
img{max-width:100%;border-radius:.5rem}
@media print{pre{max-height:none}}
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

function head(title: string): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
`;
}

function heading(
  { id, provider, model, cwd, created_at, branch_of, parent }: SessionRecord,
  title: string,
  { redactor, without = new Set() }: HtmlOptions,
): Markup {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Session", id],
    ["Model", `${provider} ${model}`],
    ["Folder", without.has("folder") ? undefined : redactor.redact(cwd)],
    ["Created", moment(created_at)],
    ["Branch of", branch_of && `${branch_of.session} after event ${branch_of.event}`],
    ["Subagent of", parent?.session],
    ["Left out", without.size === 0 ? undefined : [...without].join(", ")],
  ];
  const rows = facts.map(([name, value]) =>
    value === undefined ? undefined : html`<dt>${name}</dt><dd>${value}</dd>`,
  );
  return html`<header>
<h1>${title}</h1>
<dl>${rows}</dl>
</header>
`;
}

const MOST_RESULT = 20_000;
const MOST_SUMMARY = 160;

interface ShownCall {
  readonly started: EventPayloads["ToolCallStarted"];
  result?: Pick<EventPayloads["ToolResult"], "status" | "content" | "details">;
}

/** Collects a turn, and gives its markup when the next one begins. */
class Page {
  readonly #without: ReadonlySet<HtmlPart>;
  readonly #ends = new AnswerEnds();
  #number = 0;
  #startedAt = "";
  #parts: (Markup | ShownCall)[] = [];
  readonly #calls = new Map<CallId, ShownCall>();
  #kind: "TextDelta" | "ThinkingDelta" = "TextDelta";
  #words = "";

  constructor(without: ReadonlySet<HtmlPart>) {
    this.#without = without;
  }

  /** The markup of the turn before, if this event begins another one. */
  take(event: Envelope): Markup | undefined {
    if (this.#ends.take(event) !== undefined) this.#flush();
    if (event.kind === "TextDelta" || event.kind === "ThinkingDelta") {
      if (event.kind !== this.#kind) this.#flush();
      this.#kind = event.kind;
      this.#words += event.payload.text;
      return undefined;
    }
    if (event.kind === "AnswerRetracted") this.#words = "";
    const before = event.kind === "TurnStarted" ? this.end() : undefined;
    const part = this.#partOf(event);
    if (part !== undefined) {
      this.#flush();
      this.#parts.push(part);
    }
    return before;
  }

  /** The turn so far. */
  end(): Markup {
    this.#flush();
    const parts = this.#parts.map((part) => (part instanceof Markup ? part : this.#call(part)));
    this.#parts = [];
    this.#calls.clear();
    return html`${parts}`;
  }

  #flush(): void {
    const words = this.#words.trim();
    this.#words = "";
    if (words === "") return;
    if (this.#kind === "TextDelta") this.#parts.push(answer(words));
    else if (!this.#without.has("thinking"))
      this.#parts.push(folded("thinking", html`<div class="text">${words}</div>`));
  }

  #partOf(event: Envelope): Markup | ShownCall | undefined {
    switch (event.kind) {
      case "TurnStarted":
        this.#startedAt = event.ts;
        return html`<h2 id="turn-${++this.#number}">Turn ${this.#number} · ${moment(event.ts)}</h2>
${this.#input(event.payload.input)}`;
      case "InputSteered":
        return html`<p class="note">While the turn ran · ${moment(event.ts)}</p>
${this.#input(event.payload.input)}`;
      case "ToolCallStarted": {
        if (this.#without.has("calls")) return undefined;
        const call = { started: event.payload };
        this.#calls.set(event.payload.call, call);
        return call;
      }
      case "ToolResult":
      case "ToolResultChanged": {
        const call = this.#calls.get(event.payload.call);
        if (call !== undefined) call.result = event.payload;
        return undefined;
      }
      case "ContextAdded": {
        if (this.#without.has("context")) return undefined;
        return folded(`added by ${event.payload.source}`, html`<div class="text">${event.payload.text}</div>`);
      }
      case "CompactionTriggered": {
        const { reason, summary } = event.payload;
        const words = `The older messages were summarised (${reason}).`;
        return summary === undefined || this.#without.has("context")
          ? note(words)
          : folded(words, html`<div class="text">${summary}</div>`);
      }
      case "PermissionResolved": {
        if (this.#without.has("calls")) return undefined;
        const { tool, decision, decided_by, message } = event.payload;
        return note(
          `Permission for ${tool}: ${decision} (${decided_by})${message === undefined ? "" : `: ${message}`}`,
        );
      }
      case "RerunBegan":
        return note(`Runs turns of ${event.payload.of} again, from turn ${event.payload.from} on.`);
      case "StreamGap":
        return note(`Events ${event.payload.from} to ${event.payload.to} are missing: ${event.payload.reason}`);
      case "Error":
        return html`<p class="note bad">${event.payload.message}</p>
`;
      case "TurnEnded":
        return this.#ending(event);
      default:
        return undefined;
    }
  }

  #input(input: readonly InputContent[]): Markup {
    return html`<div class="text user">${input.map((block) => this.#content(block))}</div>
`;
  }

  #content(block: InputContent): Value {
    if (block.type === "text") return block.text;
    if (block.type === "audio" || this.#without.has("images")) return `[${block.media_type}]`;
    return image(block) ?? `[${block.media_type}]`;
  }

  #call({ started: { tool, args }, result }: ShownCall): Markup {
    const { status = "no result" } = result ?? {};
    const words = shorten(Object.values(args).map(textOf).join(" ").replace(/\s+/g, " "), MOST_SUMMARY);
    const head = html`<b>${tool}</b> ${words}${status === "ok" ? undefined : html` <span class="bad">${status}</span>`}`;
    const given = html`<pre>${JSON.stringify(args, undefined, 2)}</pre>`;
    return html`<details class="call"><summary>${head}</summary>
${given}
${result === undefined || this.#without.has("results") ? undefined : this.#result(result)}</details>
`;
  }

  #result({ content, details }: NonNullable<ShownCall["result"]>): Markup {
    const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const images = content.map((block) => (block.type === "text" ? undefined : this.#content(block)));
    const { diff } = details ?? {};
    const output = capText(texts.join("\n"), MOST_RESULT, "the JSON lines export has all of it");
    return html`${output.trim() === "" ? undefined : html`<pre>${output}</pre>`}${images}${typeof diff === "string" && diff !== "" ? colored(diff) : undefined}
`;
  }

  #ending({ ts, payload }: EnvelopeOf<"TurnEnded">): Markup {
    const { outcome, iterations, usage, cost, failure } = payload;
    const elapsed = Math.max(0, Date.parse(ts) - Date.parse(this.#startedAt)) || 0;
    const calls = `${iterations} model ${iterations === 1 ? "call" : "calls"}`;
    const figures = this.#without.has("costs") ? [] : [calls, formatStats(turnStats(usage, elapsed, { cost }))];
    const words = [outcome, ...figures, ...(failure === undefined ? [] : [failure.message])].join(" · ");
    return outcome === "answered"
      ? note(words)
      : html`<p class="note bad">${words}</p>
`;
  }
}

/** `2026-01-31 12:00:00 UTC`; anything else as it is. */
function moment(time: string): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? time : `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function note(words: string): Markup {
  return html`<p class="note">${words}</p>
`;
}

function folded(words: string, content: Markup): Markup {
  return html`<details><summary>${safeLine(words)}</summary>
${content}</details>
`;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^ {0,3}\1[`~]*[ \t]*$\n?|(?![\s\S]))/gm;

/** Words as they are, and code in its fences. */
function answer(words: string): Markup {
  const parts: Markup[] = [];
  let at = 0;
  const add = (text: string) => {
    if (text.trim() !== "")
      parts.push(html`<div class="text">${text.replace(/^\n+|\s+$/g, "")}</div>
`);
  };
  for (const match of words.matchAll(FENCE)) {
    add(words.slice(at, match.index));
    parts.push(html`<pre>${match[2]?.replace(/\n$/, "")}</pre>
`);
    at = match.index + match[0].length;
  }
  add(words.slice(at));
  return html`${parts}`;
}

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Undefined for anything but the data of a picture. */
function image({ media_type, data }: { readonly media_type: string; readonly data: string }): Markup | undefined {
  if (!IMAGE.test(media_type) || !BASE64.test(data)) return undefined;
  return html`<img alt="" src="data:${media_type};base64,${new Markup(data)}">`;
}

function colored(diff: string): Markup {
  const lines = capText(diff, MOST_RESULT, "the JSON lines export has all of it").split("\n");
  const marked = lines.map((line) => {
    if (line.startsWith("+"))
      return html`<span class="add">${line}</span>
`;
    return line.startsWith("-")
      ? html`<span class="del">${line}</span>
`
      : html`${line}
`;
  });
  return html`<pre>${marked}</pre>`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
