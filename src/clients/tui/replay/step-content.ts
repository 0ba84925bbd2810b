/**
 * The content of a step: a title and sections of text, made harmless for a terminal. Views choose the sections and the width; nothing
 * here depends on either.
 */

import { argumentLine, RESULT_MARKS } from "../../../base/call-words.js";
import { commandFailure, lastLines } from "../../../base/command-failure.js";
import { formatDuration } from "../../../base/duration.js";
import { groupDigits } from "../../../base/group-digits.js";
import type { Style } from "../../../base/terminal-style.js";
import { safeLine, safeText } from "../../../base/terminal-text.js";
import { formatStats, turnStats } from "../../../base/turn-stats.js";
import { oldShape } from "../../../protocol/answer-ends.js";
import type { InputContent, ResultContent } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads } from "../../../protocol/events.js";
import { EXPIRED } from "../../../protocol/events.js";
import type { JsonObject } from "../../../protocol/json.js";
import { describeArguments } from "./argument-text.js";
import { JoinedText } from "./joined-text.js";
import { describeNotice, type Happening } from "./notice-text.js";

export interface Section {
  readonly text: string;
  /** `plain`: a shortened form, shown only without details. */
  readonly when: "always" | "plain" | "details";
  readonly label?: string;
  readonly style?: Style;
}

export interface StepContent {
  /** The prompt variant of the turn that begins here. */
  readonly variant?: string;
  readonly title: string;
  readonly style?: Style;
  readonly sections: readonly Section[];
}

export interface ContentOptions {
  /** Lines of a tool's result that are shown without details. */
  readonly resultLines: number;
  /** Events up to this one have lost their content (the session's `expired_to`). */
  readonly expiredTo?: number | undefined;
}

/** Wrapping more of one section would take noticeable time. */
const MAX_CHARACTERS = 400_000;
/** A line of a result may be very long; this many characters count as one line. */
const LINE_CHARACTERS = 160;

const DECISIONS: Readonly<Record<EventPayloads["PermissionResolved"]["decision"], string>> = {
  allow_once: "allowed once",
  allow_pattern: "allowed for calls like this",
  allow_tool: "allowed for the tool",
  deny: "denied",
};

/** Reads the events of one step, in order. */
export class StepReader {
  readonly #options: ContentOptions;
  readonly #thinking = new JoinedText(MAX_CHARACTERS);
  readonly #answer = new JoinedText(MAX_CHARACTERS);
  readonly #progress = new JoinedText(MAX_CHARACTERS);
  readonly #sections: Section[] = [];
  readonly #facts: string[] = [];
  #variant: string | undefined;
  #title = "";
  #style: Style | undefined;
  #call = "";
  #first: Envelope | undefined;
  #last: Envelope | undefined;

  constructor(options: ContentOptions) {
    this.#options = options;
  }

  /** The call of a result, if it is not in the same step. */
  about(call: EventPayloads["ToolCallStarted"]): void {
    this.#call = safeLine(argumentLine(call.args));
  }

  add(event: Envelope): void {
    this.#first ??= event;
    this.#last = event;
    switch (event.kind) {
      case "ThinkingDelta":
        this.#thinking.add(event.payload.text);
        break;
      case "TextDelta":
        this.#title ||= "answer";
        this.#answer.add(event.payload.text);
        break;
      case "ToolCallProgress":
        this.#progress.add(event.payload.text);
        break;
      case "AnswerEnded":
        if (event.payload.interrupted) this.#facts.push("the answer was cut off");
        break;
      case "CostIncremented":
        this.#cost(event.payload);
        break;
      case "TurnTiming":
        this.#timing(event.payload);
        break;
      default:
        this.#happened(event);
    }
  }

  /** Sets the title of the step. */
  #happened(event: Happening): void {
    switch (event.kind) {
      case "TurnStarted":
        this.#input(event.payload);
        break;
      case "ToolCallStarted":
        this.#started(event);
        break;
      case "ToolResult":
        this.#result(event.payload);
        break;
      case "PermissionRequested":
        this.#asked(event);
        break;
      case "PermissionResolved":
        this.#decided(event.payload);
        break;
      case "TurnEnded":
        this.#ended(event.payload);
        break;
      default:
        this.#notice(event);
    }
  }

  content(): StepContent {
    const thinking = section(String(this.#thinking), { when: "details", label: "thinking", style: "dim" });
    const progress = section(String(this.#progress), { when: "details", label: "while it ran", style: "dim" });
    const facts = section(this.#factLines().join("\n"), { when: "details", label: "log", style: "dim" });
    const answer = section(String(this.#answer).trimEnd(), { when: "always" });
    return {
      ...(this.#variant !== undefined && { variant: this.#variant }),
      title: safeLine(this.#title || "unfinished: the log stops here"),
      ...(this.#style !== undefined && { style: this.#style }),
      sections: [...thinking, ...answer, ...this.#sections, ...progress, ...facts],
    };
  }

  #input({ input, variant }: EventPayloads["TurnStarted"]): void {
    this.#title = variant === undefined ? "you" : `you (prompt variant ${variant})`;
    this.#variant = variant;
    this.#say(input.map(blockText).join("\n"));
  }

  #started({ id, payload: { tool, args } }: Envelope & { readonly kind: "ToolCallStarted" }): void {
    this.#title = `● ${tool}`;
    this.#arguments(id, args);
  }

  #arguments(id: number, args: JsonObject): void {
    const isExpired = id <= (this.#options.expiredTo ?? 0);
    if (isExpired && Object.keys(args).length === 0) this.#say(EXPIRED);
    else {
      this.#say(argumentLine(args), { when: "plain" });
      this.#say(describeArguments(args), { when: "details" });
    }
  }

  #result({ tool, status, content, details }: EventPayloads["ToolResult"]): void {
    this.#title = `${RESULT_MARKS[status]} ${tool}: ${status}`;
    if (status !== "ok") this.#style = "red";
    if (this.#call !== "") this.#sections.push({ text: this.#call, when: "always", style: "dim" });
    const text = content.map(blockText).join("\n").trimEnd();
    const failed = commandFailure({ status, content, details });
    if (failed !== undefined) this.#title = `${RESULT_MARKS[status]} ${tool}: ${failed.ending}`;
    const most = this.#options.resultLines;
    const short = failed === undefined ? firstLines(text, most) : lastLines(text, most);
    if (text === "") this.#say("(no output)", { style: "dim" });
    else if (short === text) this.#say(text);
    else {
      this.#say(short, { when: "plain" });
      this.#say(text, { when: "details" });
    }
    if (details !== undefined) this.#say(describeArguments(details), { when: "details", label: "details" });
  }

  #asked({ id, payload }: Envelope & { readonly kind: "PermissionRequested" }): void {
    this.#title = `permission asked for ${payload.tool}`;
    this.#style = "yellow";
    this.#say(payload.summary);
    if (payload.summary !== EXPIRED && id > (this.#options.expiredTo ?? 0)) {
      this.#say(describeArguments(payload.args), { when: "details", label: "arguments" });
    }
  }

  #decided({ tool, decision, decided_by, message }: EventPayloads["PermissionResolved"]): void {
    this.#title = `permission for ${tool}: ${DECISIONS[decision]}`;
    this.#style = decision === "deny" ? "red" : "green";
    this.#say(`decided by ${decided_by}${message === undefined ? "" : `: ${message}`}`);
  }

  #ended({ outcome, iterations, failure, truncated, usage }: EventPayloads["TurnEnded"]): void {
    this.#title = `turn ended: ${outcome}`;
    this.#style = outcome === "answered" ? "green" : "red";
    if (failure !== undefined) this.#say(`${failure.reason}: ${failure.message}`);
    if (truncated) this.#say("The answer was cut off at the model's output limit.");
    const { promptTokens, replyTokens } = turnStats(usage, 0);
    const calls = `${iterations} model call${iterations === 1 ? "" : "s"}`;
    this.#say(`${calls} · ${number(promptTokens)} in · ${number(replyTokens)} out`, { style: "dim" });
  }

  #notice(event: Parameters<typeof describeNotice>[0]): void {
    const { title, text } = describeNotice(event);
    this.#title = title;
    this.#style = event.kind === "Error" || event.kind === "StreamGap" ? "red" : "yellow";
    this.#say(text);
  }

  #cost(paid: EventPayloads["CostIncremented"]): void {
    const { provider, model, usage, elapsed_ms, cost, purpose } = paid;
    const cut = oldShape(paid)?.interrupted ? " · cut off" : "";
    this.#facts.push(
      `${purpose ?? "model"} call: ${provider}:${model} · ${formatStats(turnStats(usage, elapsed_ms, { cost }))}${cut}`,
    );
  }

  #timing({ parts }: EventPayloads["TurnTiming"]): void {
    const slowestFirst = Object.entries(parts).sort(([, a], [, b]) => b - a);
    for (const [name, ms] of slowestFirst) this.#facts.push(`${ms.toFixed(1).padStart(10)} ms  ${name}`);
  }

  #factLines(): string[] {
    const [first, last] = [this.#first, this.#last];
    if (first === undefined || last === undefined) return this.#facts;
    const ids = first.id === last.id ? `event ${first.id}` : `events ${first.id}–${last.id}`;
    const span = Date.parse(last.ts) - Date.parse(first.ts);
    const during = span > 0 ? ` · over ${formatDuration(span)}` : "";
    return [...this.#facts, `${ids} · ${first.ts}${during} · ${first.originator}`];
  }

  #say(text: string, options: Partial<Section> = {}): void {
    const shown = new JoinedText(MAX_CHARACTERS);
    shown.add(text);
    this.#sections.push(...section(String(shown), { when: "always", ...options }));
  }
}

function section(text: string, options: Omit<Section, "text">): Section[] {
  return text === "" ? [] : [{ ...options, text: safeText(text) }];
}

function blockText(block: InputContent | ResultContent): string {
  if (block.type === "text") return block.text;
  return `[${block.media_type}, ${groupDigits(Math.ceil((block.data.length * 3) / 4 / 1024))} KB]`;
}

function firstLines(text: string, most: number): string {
  let end = -1;
  for (let line = 0; line < most && (line === 0 || end !== -1); line++) end = text.indexOf("\n", end + 1);
  const head = end === -1 ? text : text.slice(0, end);
  const room = most * LINE_CHARACTERS;
  if (head.length > room) return `${head.slice(0, room)}\n… ${number(text.length - room)} more characters`;
  if (end === -1) return text;
  const more = text.slice(end + 1).split("\n").length;
  return `${head}\n… ${number(more)} more line${more === 1 ? "" : "s"}`;
}

function number(value: number): string {
  return groupDigits(value);
}
