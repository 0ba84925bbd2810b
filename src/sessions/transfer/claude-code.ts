/**
 * Claude Code transcripts: `~/.claude/projects/<folder>/<session>.jsonl`, one record a line.
 *
 * 1. `user` and `assistant` lines are the conversation. A message of the model is spread over several lines, one block each, that
 *    share `message.id`; the last of them has the final usage.
 * 2. Results are found by the id of their call, wherever their line stands.
 * 3. Lines of sub-agents (`isSidechain`) are dropped: their result is the result of the call that started them. A file of
 *    nothing else is such a sub-agent's own, and is read.
 */
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { activeLines, type ChainLine } from "./claude-chain.js";
import { Conversation, type MessageLine, PROVIDER, resultsOf } from "./claude-conversation.js";
import { asArray, asObject, asString, asTime } from "./fields.js";
import type { ForeignSession } from "./foreign-session.js";
import type { SourceLine } from "./lines.js";
import type { ImportNotes } from "./notes.js";

/** For the program itself; not part of the conversation. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  "agent-color",
  "agent-name",
  "agent-setting",
  "attribution-snapshot",
  "bridge-session",
  "content-replacement",
  "cost-state",
  "file-history-snapshot",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "speculation-accept",
  "tag",
  "worktree-state",
]);

interface Line extends ChainLine, MessageLine {
  readonly isSidechain: boolean;
}

export async function readClaudeCode(lines: AsyncIterable<SourceLine>, notes: ImportNotes): Promise<ForeignSession> {
  const reader = new Reader(notes);
  for await (const line of lines) reader.take(line);
  return reader.end();
}

class Reader {
  readonly #notes: ImportNotes;
  readonly #lines: Line[] = [];
  readonly #titles: { custom?: string; generated?: string } = {};
  readonly #summaries: { readonly summary: string; readonly leaf: string }[] = [];

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  take({ number, value }: SourceLine): void {
    const type = asString(value.type) ?? "(no type)";
    switch (type) {
      case "user":
      case "assistant":
        if (!isJsonObject(value.message)) this.#notes.damaged(number, "its message is missing");
        else this.#keep(type, value, number);
        return;
      case "attachment":
        this.#takeAttachment(value, number);
        return;
      case "system":
        this.#keep("link", value, number);
        return;
      case "summary":
        this.#summaries.push({ summary: asString(value.summary) ?? "", leaf: asString(value.leafUuid) ?? "" });
        return;
      case "custom-title":
        this.#titles.custom = asString(value.customTitle) ?? "";
        return;
      case "ai-title":
        this.#titles.generated = asString(value.aiTitle) ?? "";
        return;
      default:
        if (!BOOKKEEPING.has(type)) this.#notes.unknown(type);
        if (typeof value.uuid === "string") this.#keep("link", value, number);
    }
  }

  /** Input during a turn is in an attachment. */
  #takeAttachment(value: JsonObject, number: number): void {
    const { type, prompt, commandMode } = asObject(value.attachment);
    const isPrompt = type === "queued_command" && commandMode !== "task-notification";
    if (isPrompt && prompt !== undefined) {
      this.#keep("user", { ...value, message: { content: prompt } }, number);
      return;
    }
    if (type === "file") this.#notes.count("Attached files left out");
    this.#keep("link", value, number);
  }

  #keep(role: Line["role"], value: JsonObject, number: number): void {
    const { message, ...rest } = value;
    const { id, content, model, usage, stop_reason } = asObject(message);
    const previous = this.#lines.at(-1)?.uuid;
    const uuid = asString(value.uuid);
    const isSummary = value.isCompactSummary === true || value.subtype === "compact_boundary";
    const parent = asString(value.parentUuid) ?? asString(value.logicalParentUuid);
    this.#lines.push({
      role,
      uuid: uuid ?? `line ${number}`,
      // A line without an id has no parent either.
      parent: parent ?? (uuid === undefined ? previous : undefined),
      isSummary,
      ...(role === "assistant" && answerKey(id, value.requestId)),
      isSidechain: value.isSidechain === true,
      at: asTime(value.timestamp),
      // `toolUseResult` repeats file contents: only its outcome is kept.
      record: role === "link" ? linkFields(rest) : { ...talkFields(rest), content, model, usage, stop_reason },
    });
  }

  end(): ForeignSession {
    const messages = this.#lines.filter(({ role }) => role !== "link");
    const isSubAgent = messages.length > 0 && messages.every(({ isSidechain }) => isSidechain);
    const main = this.#lines.filter(({ isSidechain }) => isSidechain === isSubAgent);
    const active = activeLines(main, ({ role }) => role !== "link");
    const isActive = new Set(active);
    const left = main.filter((line) => line.role !== "link" && !isActive.has(line) && !isOnlyResults(line));
    const others = messages.length - main.filter(({ role }) => role !== "link").length;
    this.#notes.count("Lines of sub-agents left out (their results are kept)", others);
    this.#notes.count("Lines of abandoned branches left out", left.length);
    const conversation = new Conversation(resultsOf(main), this.#notes);
    for (const line of active) conversation.take(line);
    const turns = conversation.end();
    const fields = messages.map(({ record }) => record);
    const models = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "answer" ? [part.model] : [])));
    const cwd = fields.map((record) => asString(record.cwd)).find((folder) => folder !== undefined && folder !== "");
    const startedAt = this.#lines.map(({ at }) => at).find((at) => at !== undefined);
    const title = this.#title();
    return {
      provider: PROVIDER,
      model: models.at(-1) ?? "",
      turns,
      ...(cwd !== undefined && { cwd }),
      ...(startedAt !== undefined && { startedAt }),
      ...(title !== undefined && { title }),
    };
  }

  /** Summaries of other sessions get into a file; one that names a line of it is its own. */
  #title(): string | undefined {
    const own = new Set(this.#lines.map(({ uuid }) => uuid));
    const summary = this.#summaries.findLast(({ leaf }) => own.has(leaf))?.summary;
    return [this.#titles.custom, this.#titles.generated, summary].find((title) => title !== undefined && title !== "");
  }
}

function linkFields({ subtype, compactMetadata }: JsonObject): JsonObject {
  return { subtype, compactMetadata };
}

function talkFields(value: JsonObject): JsonObject {
  const { cwd, isMeta, isCompactSummary, isApiErrorMessage, error, toolUseResult } = value;
  const outcome = isJsonObject(toolUseResult) ? { interrupted: toolUseResult.interrupted } : toolUseResult;
  const kept = typeof outcome === "string" ? outcome.slice(0, 200) : outcome;
  return { cwd, isMeta, isCompactSummary, isApiErrorMessage, error, toolUseResult: kept };
}

function isOnlyResults({ role, record }: Line): boolean {
  const blocks = asArray(record.content);
  return role === "user" && blocks.length > 0 && blocks.every((block) => asObject(block).type === "tool_result");
}

function answerKey(...ids: readonly JsonObject[string][]): { readonly answer?: string } {
  const answer = ids.find((id) => typeof id === "string" && id !== "");
  return typeof answer === "string" ? { answer } : {};
}
