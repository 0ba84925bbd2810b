/**
 * Shows a turn as plain text: the answer on stdout, everything else on stderr.
 *
 * 1. A terminal shows the model's text as it arrives; each block ends in a newline.
 * 2. A pipe or file gets only the final answer. Whether text is part of it is known when the turn ends or a tool is called, so it
 *    is held until then; text beside tool calls goes to stderr. If it streams, all text of the model comes as it arrives.
 * 3. Text for a terminal is sanitised; the answer for a pipe is unchanged.
 */

import { roundTokens } from "../../base/budget-text.js";
import { argumentLine, RESULT_MARKS } from "../../base/call-words.js";
import { shorten } from "../../base/cap-text.js";
import { commandFailure, lastLines } from "../../base/command-failure.js";
import { gapText } from "../../base/gap-text.js";
import { groupDigits } from "../../base/group-digits.js";
import { hookText } from "../../base/hook-text.js";
import { subagentLine } from "../../base/subagent-line.js";
import { paint } from "../../base/terminal-style.js";
import { SafeTextStream, safeText } from "../../base/terminal-text.js";
import type { Envelope } from "../../protocol/envelope.js";
import type { EventPayloads } from "../../protocol/events.js";
import type { Spinner } from "./spinner.js";
import type { Terminal } from "./terminal.js";

/** For a failing command: errors and summaries are at the end. */
const FAILURE_LINES = 8;

export class TextView {
  readonly #terminal: Terminal;
  readonly #spinner: Spinner;
  readonly #verbose: boolean;
  readonly #answer: "shown" | "none";
  readonly #filter = new SafeTextStream();
  /** The model's text since its last call, if it is not streamed. */
  #held: string[] = [];
  #lineOpen = false;
  #thinkingOpen = false;
  #progressOpen = false;
  #progressShown = false;

  /** `answer: "none"` leaves the answer to another writer. */
  constructor(
    terminal: Terminal,
    spinner: Spinner,
    options: { readonly verbose: boolean; readonly answer?: "shown" | "none" },
  ) {
    this.#terminal = terminal;
    this.#spinner = spinner;
    this.#verbose = options.verbose;
    this.#answer = options.answer ?? "shown";
  }

  show(event: Envelope): void {
    switch (event.kind) {
      case "TextDelta":
        this.#text(event.payload.text);
        return;
      case "ThinkingDelta":
        this.#thinking(event.payload.text);
        return;
      case "ToolCallStarted":
        this.#closeLine();
        this.#sayBeside();
        this.#print(
          `${paint(this.#terminal, "bold", event.payload.tool)} ${safeText(argumentLine(event.payload.args))}`,
        );
        this.#spinner.start(event.payload.tool);
        return;
      case "ToolCallProgress":
        this.#progress(event.payload.text);
        return;
      case "SubagentStarted":
        this.#closeLine();
        this.#print(`${event.payload.type}: ${safeText(event.payload.description)}`);
        this.#spinner.start(event.payload.type);
        return;
      case "SubagentProgress":
        this.#spinner.start(safeText(subagentLine(event.payload)));
        return;
      case "ToolResult":
        this.#sayBeside();
        this.#result(event.payload);
        this.#spinner.start("thinking");
        return;
      case "Notice":
        this.#notice(event.payload);
        return;
      case "StreamGap":
        this.aside(gapText(event.payload));
        return;
      case "HookTimeout":
      case "HookError":
        this.#news(hookText(event));
        return;
      case "ContextNearlyFull":
        this.#closeLine();
        this.#print(windowText(event.payload));
        return;
      case "CompactionTriggered":
        this.#shortened(event.payload);
        return;
      case "RateLimited":
      case "Retrying":
        this.#waiting(event.payload);
        return;
      case "AnswerRetracted":
        this.#startAgain();
        return;
      case "FailedOver": {
        const { from, to, message } = event.payload;
        const names = `${from.provider}:${from.model} → ${to.provider}:${to.model}`;
        this.#news(`${names}: ${message}`);
        return;
      }
      case "ModelRouted": {
        const { provider, model, route, rule } = event.payload;
        this.#news(`${provider}:${model} answers (@${route}: ${rule}).`);
        return;
      }
      case "InputSteered":
        this.aside("(the model received your input)");
        return;
      case "TurnEnded":
        this.#closeLine();
        this.#release();
        this.#spinner.stop();
        return;
    }
  }

  /** Ends an open line on stdout, so that the next output starts on a new line. */
  #closeLine(): void {
    this.#closeThinking();
    this.#spinner.hide();
    const rest = this.#filter.end();
    if (rest !== "") this.#terminal.out.write(rest);
    if (this.#lineOpen || rest !== "") this.#terminal.out.write("\n");
    this.#lineOpen = false;
  }

  /** The client that requested it gets it as the reply. */
  #shortened({ reason, tokens }: EventPayloads["CompactionTriggered"]): void {
    if (reason === "asked") return;
    this.#closeLine();
    const counts = tokens === undefined ? "" : `: ${roundTokens(tokens.before)} → ${roundTokens(tokens.after)} tokens`;
    this.#print(paint(this.#terminal, "dim", `conversation shortened${counts}`));
    this.#spinner.start("thinking");
  }

  /** The answer may continue on this line, so the line stays open. */
  #waiting({ message, wait_ms }: EventPayloads["RateLimited"]): void {
    this.#news(message);
    if (wait_ms > 0) this.#spinner.start("waiting, Ctrl-C cancels");
  }

  /** Text on a terminal cannot be removed, so the new answer starts on a new line. */
  #startAgain(): void {
    this.#closeLine();
    this.#held = [];
    this.#terminal.err.write("oxbow: the answer was interrupted; the model starts it again.\n");
  }

  /** Scripts get these too: another model answers, or it takes longer. */
  #news(message: string): void {
    this.#spinner.hide();
    const inLine = this.#lineOpen && this.#terminal.out.isTerminal;
    const line = paint(this.#terminal, "yellow", safeText(`oxbow: ${message}`));
    this.#terminal.err.write(`${inLine ? "\n" : ""}${line}\n`);
  }

  /** The held text belongs to a call: it is not the answer. */
  #sayBeside(): void {
    const words = this.#held.join("").trimEnd();
    this.#held = [];
    if (words === "") return;
    this.#spinner.hide();
    this.#terminal.err.write(`${safeText(words)}\n`);
  }

  /** The turn ended, so the held text is its answer. */
  #release(): void {
    const words = this.#held.join("");
    this.#held = [];
    if (words !== "") this.#terminal.out.write(words.endsWith("\n") ? words : `${words}\n`);
  }

  /** A message about the turn, separate from the model's text. */
  aside(message: string): void {
    if (!this.#terminal.showProgress) return;
    const inLine = this.#lineOpen && this.#terminal.out.isTerminal;
    this.#print(`${inLine ? "\n" : ""}${paint(this.#terminal, "yellow", safeText(message))}`);
  }

  #text(text: string): void {
    this.#closeThinking();
    if (this.#answer === "none") return;
    const { isTerminal, streams } = this.#terminal.out;
    if (!isTerminal && streams !== true) {
      this.#held.push(text);
      return;
    }
    this.#spinner.stop();
    const shown = isTerminal ? this.#filter.push(text) : text;
    if (shown === "") return;
    this.#terminal.out.write(shown);
    this.#lineOpen = !shown.endsWith("\n");
  }

  #thinking(text: string): void {
    if (!this.#verbose || !this.#terminal.showProgress || text === "") return;
    this.#spinner.hide();
    this.#terminal.err.write(paint(this.#terminal, "dim", safeText(text)));
    this.#thinkingOpen = true;
  }

  #closeThinking(): void {
    if (!this.#thinkingOpen) return;
    this.#terminal.err.write("\n");
    this.#thinkingOpen = false;
  }

  #progress(text: string): void {
    if (!this.#terminal.showProgress || !this.#terminal.err.isTerminal || text === "") return;
    this.#spinner.hide();
    const shown = safeText(text);
    this.#terminal.err.write(paint(this.#terminal, "dim", shown));
    this.#progressOpen = !shown.endsWith("\n");
    this.#progressShown = true;
  }

  /** Tells whether output of the call is already on the screen. */
  #closeProgress(): boolean {
    if (this.#progressOpen) this.#terminal.err.write("\n");
    this.#progressOpen = false;
    const shown = this.#progressShown;
    this.#progressShown = false;
    return shown;
  }

  #result(result: EventPayloads["ToolResult"]): void {
    const { status, tool, content } = result;
    const isOnScreen = this.#closeProgress();
    const words = content.map((block) => (block.type === "text" ? block.text : `[${block.media_type}]`)).join("\n");
    const lines = words.trimEnd() === "" ? 0 : words.trimEnd().split("\n").length;
    const failed = commandFailure(result);
    const problem = failed === undefined ? `${status}: ${firstLine(words)}` : failed.ending;
    const summary = status === "ok" ? `${lines} line${lines === 1 ? "" : "s"}` : problem;
    const style = status === "ok" ? "dim" : "red";
    this.#print(paint(this.#terminal, style, `${RESULT_MARKS[status]} ${tool}: ${safeText(summary)}`));
    const shown = this.#verbose ? words.trimEnd() : isOnScreen ? "" : lastLines(failed?.output ?? "", FAILURE_LINES);
    if (shown.trim() !== "") this.#print(paint(this.#terminal, "dim", indent(safeText(shown))));
  }

  /** Scripts get warnings too: the answer may be incomplete. */
  #notice({ level, message, offer }: EventPayloads["Notice"]): void {
    if (level === "progress") {
      this.#spinner.start(safeText(message) || "thinking");
      return;
    }
    this.#closeLine();
    this.#terminal.err.write(`${paint(this.#terminal, offer ? "dim" : "yellow", `oxbow: ${safeText(message)}`)}\n`);
  }

  #print(line: string): void {
    if (!this.#terminal.showProgress) return;
    this.#spinner.hide();
    this.#terminal.err.write(`${line}\n`);
  }
}

/** Tells what the user can do if automatic compaction does not help. */
function windowText({ model, used, window }: EventPayloads["ContextNearlyFull"]): string {
  const part = Math.min(100, Math.round((used / window) * 100));
  const counts = `${groupDigits(used)} of ${groupDigits(window)} tokens`;
  return `oxbow: the conversation fills ${part} % of the context window of ${safeText(model)} (${counts}). Shorten it (/compact), start a new one (/clear), go back to an earlier turn ('oxbow session branch'), or choose a model with a larger window (/model).`;
}

function firstLine(text: string): string {
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  return shorten(line, 160);
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "    ");
}
