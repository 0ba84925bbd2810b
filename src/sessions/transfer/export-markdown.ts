/**
 * A session as a transcript to read.
 *
 * 1. No content can break out: inputs are quoted, and calls, results and thinking are in fences longer than
 *    any inside them, and what an answer leaves open is closed after it.
 * 2. One answer is held at a time.
 */

import { capText } from "../../base/cap-text.js";
import { formatStats, turnStats } from "../../base/turn-stats.js";
import { AnswerEnds } from "../../protocol/answer-ends.js";
import type { InputContent } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import { closeOpenBlocks, fenced, quote } from "../markdown.js";
import { type Redactor, redactEvents } from "../redacted-events.js";
import type { SessionRecord } from "../store.js";

export interface MarkdownOptions {
  readonly redactor: Redactor;
  /** Characters of a result that are shown. */
  readonly resultLimit?: number;
}

const RESULT_LIMIT = 4000;

/** Paragraphs, each with its line ends. */
export async function* exportMarkdown(
  record: SessionRecord,
  events: AsyncIterable<Envelope>,
  { redactor, resultLimit = RESULT_LIMIT }: MarkdownOptions,
): AsyncGenerator<string> {
  const transcript = new Transcript(resultLimit);
  yield heading(record, redactor);
  for await (const event of redactEvents(events, redactor)) {
    for (const paragraph of transcript.take(event)) yield `${paragraph}\n\n`;
  }
  for (const paragraph of transcript.end()) yield `${paragraph}\n\n`;
}

function heading(
  { id, title, provider, model, cwd, created_at, branch_of, parent }: SessionRecord,
  { redact }: Redactor,
): string {
  const facts = [
    `- Session: ${id}`,
    `- Model: ${provider} ${model}`,
    `- Folder: ${redact(cwd)}`,
    `- Created: ${created_at}`,
    ...(branch_of === undefined ? [] : [`- Branch of: ${branch_of.session} after event ${branch_of.event}`]),
    ...(parent === undefined ? [] : [`- Subagent of: ${parent.session}`]),
  ];
  return `# ${redact(title ?? id).replace(/\s+/g, " ")}\n\n${facts.join("\n")}\n\n`;
}

class Transcript {
  readonly #resultLimit: number;
  #number = 0;
  #startedAt = "";
  #kind: "TextDelta" | "ThinkingDelta" = "TextDelta";
  #words = "";
  readonly #ends = new AnswerEnds();

  constructor(resultLimit: number) {
    this.#resultLimit = resultLimit;
  }

  take(event: Envelope): string[] {
    if (this.#ends.take(event) !== undefined) return this.end();
    if (event.kind === "TextDelta" || event.kind === "ThinkingDelta") {
      const ready = event.kind === this.#kind ? [] : this.end();
      this.#kind = event.kind;
      this.#words += event.payload.text;
      // A thought that its provider wants back is over.
      return event.kind === "ThinkingDelta" && event.payload.opaque !== undefined ? [...ready, ...this.end()] : ready;
    }
    if (event.kind === "AnswerRetracted") this.#words = "";
    const paragraphs = this.#paragraphs(event);
    // What says nothing here does not part the words around it either.
    return paragraphs === undefined ? [] : [...this.end(), ...paragraphs];
  }

  /** The words that have come so far. */
  end(): string[] {
    const words = this.#words.trim();
    this.#words = "";
    if (words === "") return [];
    if (this.#kind === "TextDelta") return ["**Assistant**", closeOpenBlocks(words)];
    return [`<details>\n<summary>Thinking</summary>\n\n${fenced(words, "text")}\n\n</details>`];
  }

  #paragraphs(event: Envelope): string[] | undefined {
    switch (event.kind) {
      case "TurnStarted":
        this.#startedAt = event.ts;
        return [
          `### Turn ${++this.#number}`,
          `**User** · ${event.ts}`,
          quote(event.payload.input.map(shownContent).join("\n")),
        ];
      case "ToolCallStarted":
        return [
          `**Call** ${code(event.payload.tool)}`,
          fenced(JSON.stringify(event.payload.args, undefined, 2), "json"),
        ];
      case "ToolResult":
        return this.#result(event.payload);
      case "ToolResultChanged":
        return [line(`Changed by the hook ${event.payload.by}:`), ...this.#result(event.payload)];
      case "PermissionResolved": {
        const { tool, decision, decided_by, message } = event.payload;
        return [
          line(`Permission for ${tool}: ${decision} (${decided_by})${message === undefined ? "" : `: ${message}`}`),
        ];
      }
      case "InputSteered":
        return [`**User**, while the turn ran · ${event.ts}`, quote(event.payload.input.map(shownContent).join("\n"))];
      case "ContextAdded":
        return [line(`Added by ${event.payload.source}:`), quote(event.payload.text)];
      case "CompactionTriggered": {
        const { reason, summary } = event.payload;
        const note = line(`The older messages were summarised (${reason}).`);
        if (summary === undefined) return [note];
        return [note, `<details>\n<summary>Summary</summary>\n\n${fenced(summary, "text")}\n\n</details>`];
      }
      case "StreamGap":
        return [line(`Events ${event.payload.from} to ${event.payload.to} are missing: ${event.payload.reason}`)];
      case "Error":
        return [line(`Error: ${event.payload.message}`)];
      case "TurnEnded":
        return [this.#ending(event)];
      default:
        return undefined;
    }
  }

  #result({ tool, status, content }: EventPayloads["ToolResult"]): string[] {
    const output = content.map(shownContent).join("\n");
    const shown = capText(output, this.#resultLimit, "the JSON lines export has all of it");
    return [`**Result** of ${code(tool)}: ${status}`, output.trim() === "" ? "*(empty)*" : fenced(shown, "text")];
  }

  #ending({ ts, payload }: Extract<Envelope, { kind: "TurnEnded" }>): string {
    const { outcome, iterations, usage, truncated, failure } = payload;
    const elapsed = Math.max(0, Date.parse(ts) - Date.parse(this.#startedAt)) || 0;
    const facts = [
      outcome,
      ...(truncated === undefined ? [] : ["cut off at the output limit"]),
      `${iterations} model ${iterations === 1 ? "call" : "calls"}`,
      formatStats(turnStats(usage, elapsed)),
    ];
    return line(`${facts.join(" · ")}${failure === undefined ? "" : ` · ${failure.message}`}`);
  }
}

function shownContent(content: InputContent): string {
  return content.type === "text" ? content.text : `[${content.media_type}]`;
}

/** One line in italics, for any text. */
function line(words: string): string {
  return `*${words.replace(/\s+/g, " ").replace(/([\\*_`<])/g, "\\$1")}*`;
}

function code(name: string): string {
  return `\`${name.replace(/[`\n]/g, " ")}\``;
}
