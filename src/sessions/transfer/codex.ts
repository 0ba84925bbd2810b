/**
 * Codex rollouts: `~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`.
 *
 * 1. Since September 2025 a line is `{timestamp, type, payload}`; before that it is an item as the model's API has it, after a
 *    first line `{id, timestamp, instructions}`. Both hold the same items.
 * 2. `response_item` lines are the conversation; `event_msg` lines repeat it for screens and are read only for what is nowhere
 *    else: usage, cancelled and failed turns, reverted turns.
 * 3. An answer is a run of items of the model; a result, an input or a count of tokens ends it.
 */
import { plainText, text } from "../../protocol/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";
import { NO_USAGE } from "../../protocol/usage.js";
import {
  argumentsOf,
  contentOf,
  environmentFolder,
  historyText,
  ITEM_KINDS,
  isContext,
  outputOf,
  statusOf,
  toolOf,
  usageOf,
} from "./codex-items.js";
import { asArray, asCount, asObject, asString, asTime } from "./fields.js";
import { type ForeignCall, type ForeignResult, type ForeignSession, ForeignTurns } from "./foreign-session.js";
import type { SourceLine } from "./lines.js";
import type { ImportNotes } from "./notes.js";

const WRAPPERS: ReadonlySet<string> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
]);
/** Lines and items kept for the program itself. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  "additional_tools",
  "compaction_trigger",
  "ghost_snapshot",
  "inter_agent_communication",
  "inter_agent_communication_metadata",
  "security_risk_score",
  "world_state",
]);
export async function readCodex(lines: AsyncIterable<SourceLine>, notes: ImportNotes): Promise<ForeignSession> {
  const reader = new Reader(notes);
  for await (const line of lines) reader.take(line);
  return reader.end();
}

const ENCRYPTED_SUMMARY = "An encrypted summary of the conversation was skipped; the messages before it are complete.";

class Reader {
  readonly #notes: ImportNotes;
  readonly #turns = new ForeignTurns();
  readonly #calls = new Map<string, ForeignCall>();
  /** Results whose call has not been read. */
  readonly #results = new Map<string, ForeignResult>();
  #provider: string | undefined;
  #model = "";
  #cwd: string | undefined;
  #startedAt: string | undefined;
  #answers = 0;
  #answerIsOpen = false;
  #hasUsageRecords = false;
  #lastTotal = "";

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  take({ number, value }: SourceLine): void {
    const type = asString(value.type);
    const at = asTime(value.timestamp);
    this.#startedAt ??= at;
    const payload = asObject(value.payload);
    if (type !== undefined && WRAPPERS.has(type) && !isJsonObject(value.payload)) {
      this.#notes.damaged(number, "its payload is missing");
      return;
    }
    switch (type) {
      case "session_meta":
        this.#takeMeta(payload);
        return;
      case "turn_context":
        this.#model = asString(payload.model) ?? this.#model;
        this.#cwd ??= asString(payload.cwd);
        return;
      case "response_item":
        this.#takeItem(payload, at);
        return;
      case "event_msg":
        this.#takeEvent(payload, at);
        return;
      case "compacted":
        this.#takeCompaction(payload, at);
        return;
      case "token_usage_record":
        this.#hasUsageRecords = true;
        this.#takeUsage(asObject(payload.usage));
        return;
      case undefined:
        if (value.record_type === undefined && value.id === undefined) this.#notes.unknown("(no type)");
        return;
      default:
        if (ITEM_KINDS.has(type)) this.#takeItem(value, at);
        else if (!BOOKKEEPING.has(type)) this.#notes.unknown(type);
    }
  }

  end(): ForeignSession {
    const turns = this.#turns.end();
    this.#notes.count("Results without a call left out", this.#results.size);
    return {
      provider: this.#provider ?? "openai",
      model: this.#model,
      turns,
      ...(this.#cwd !== undefined && { cwd: this.#cwd }),
      ...(this.#startedAt !== undefined && { startedAt: this.#startedAt }),
    };
  }

  /** A session that was forked holds the first lines of its origin too: the first one is its own. */
  #takeMeta(meta: JsonObject): void {
    this.#cwd ??= asString(meta.cwd);
    this.#provider ??= asString(meta.model_provider);
  }

  #takeItem(item: JsonObject, at: string | undefined): void {
    const type = asString(item.type) ?? "(no type)";
    switch (type) {
      case "message":
        this.#takeMessage(item, at);
        return;
      case "reasoning":
        this.#takeReasoning(item, at);
        return;
      case "function_call":
      case "custom_tool_call":
      case "local_shell_call":
      case "tool_search_call":
        this.#takeCall(item, at);
        return;
      case "function_call_output":
      case "custom_tool_call_output":
      case "tool_search_output":
        this.#takeResult(item, at);
        return;
      case "web_search_call":
      case "image_generation_call":
        this.#answer(at).blocks.push({ type: "opaque", provider: this.#family, data: item });
        return;
      case "agent_message":
        this.#notes.count("Messages between agents left out");
        return;
      case "compaction":
      case "compaction_summary":
      case "context_compaction":
        this.#notes.add(ENCRYPTED_SUMMARY);
        return;
      default:
        if (!BOOKKEEPING.has(type)) this.#notes.unknown(type);
    }
  }

  get #family(): string {
    return this.#provider ?? "openai";
  }

  #takeMessage({ role, content }: JsonObject, at: string | undefined): void {
    if (role === "assistant") {
      const words = plainText(contentOf(content));
      if (words !== "") this.#answer(at).blocks.push(text(words));
      return;
    }
    if (role !== "user") return;
    const parts = contentOf(content);
    const cwd = parts.map((part) => (part.type === "text" ? environmentFolder(part.text) : undefined)).find(Boolean);
    this.#cwd ??= cwd;
    const own = parts.filter((part) => part.type !== "text" || !isContext(part.text));
    if (parts.some((part) => part.type === "text" && part.text.startsWith("<turn_aborted>"))) {
      this.#answerIsOpen = false;
      this.#turns.cancel("user", at);
    }
    const shell = parts.filter((part) => part.type === "text" && part.text.startsWith("<user_shell_command>"));
    if (shell.length > 0) this.#turns.context(shell);
    if (own.length === 0) return;
    this.#answerIsOpen = false;
    this.#turns.input(own, at);
  }

  #takeReasoning(item: JsonObject, at: string | undefined): void {
    const words = (parts: JsonValue | undefined) =>
      asArray(parts).flatMap((part) => asString(asObject(part).text) ?? []);
    const summary = words(item.summary);
    const thought = (summary.length > 0 ? summary : words(item.content)).join("\n\n");
    const { id, encrypted_content } = item;
    const named = id === undefined ? {} : { id };
    const opaque = typeof encrypted_content === "string" ? { opaque: { ...named, encrypted_content } } : {};
    if (thought === "" && opaque.opaque === undefined) return;
    this.#answer(at).blocks.push({ type: "thinking", text: thought, provider: this.#family, ...opaque });
  }

  #takeCall(item: JsonObject, at: string | undefined): void {
    const answer = this.#answer(at);
    const id = asString(item.call_id) ?? asString(item.id) ?? `call ${this.#calls.size + 1}`;
    const result = this.#results.get(id);
    this.#results.delete(id);
    const call: ForeignCall = { type: "call", id, ...toolOf(item), ...argumentsOf(item), ...(result && { result }) };
    this.#calls.set(id, call);
    answer.blocks.push(call);
  }

  #takeResult(item: JsonObject, at: string | undefined): void {
    this.#answerIsOpen = false;
    const id = asString(item.call_id);
    if (id === undefined) {
      this.#notes.count("Results without a call left out");
      return;
    }
    const content =
      item.type === "tool_search_output" ? [text(JSON.stringify(item.tools ?? []))] : outputOf(item.output);
    const success = asObject(item.output).success;
    const result: ForeignResult = { status: statusOf(plainText(content), success), content, at };
    const call = this.#calls.get(id);
    if (call === undefined) this.#results.set(id, result);
    else call.result ??= result;
  }

  #takeEvent(event: JsonObject, at: string | undefined): void {
    switch (event.type) {
      case "token_count": {
        const { last_token_usage, total_token_usage } = asObject(event.info);
        const total = JSON.stringify(total_token_usage ?? null);
        // It is repeated whenever limits change.
        if (this.#hasUsageRecords || total === "null" || total === this.#lastTotal) return;
        this.#lastTotal = total;
        this.#takeUsage(asObject(last_token_usage));
        return;
      }
      case "turn_aborted":
        this.#answerIsOpen = false;
        this.#turns.cancel("user", at);
        return;
      case "task_complete":
      case "turn_complete":
        this.#answerIsOpen = false;
        if (isJsonObject(event.error)) this.#takeFailure(event.error, at);
        this.#turns.ended(at);
        return;
      case "error":
        this.#takeFailure(event, at);
        return;
      case "thread_rolled_back":
        this.#answerIsOpen = false;
        this.#turns.rollBack(asCount(event.num_turns));
        return;
    }
  }

  #takeFailure({ message }: JsonObject, at: string | undefined): void {
    this.#answerIsOpen = false;
    this.#turns.failure({ reason: "ProviderFailed", message: asString(message) ?? "The turn failed." }, at);
  }

  #takeUsage(usage: JsonObject): void {
    const answer = this.#turns.lastAnswer;
    this.#answerIsOpen = false;
    if (answer?.usage === NO_USAGE) answer.usage = usageOf(usage);
  }

  #takeCompaction({ message, replacement_history }: JsonObject, at: string | undefined): void {
    this.#answerIsOpen = false;
    const written = asString(message)?.trim() ?? "";
    const summary = written === "" ? historyText(asArray(replacement_history)) : written;
    if (summary === "") this.#notes.add(ENCRYPTED_SUMMARY);
    else this.#turns.compaction(summary, "compaction", at);
  }

  #answer(at: string | undefined) {
    if (!this.#answerIsOpen) this.#answers++;
    this.#answerIsOpen = true;
    return this.#turns.answer(String(this.#answers), this.#model, at);
  }
}
