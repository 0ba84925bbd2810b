/**
 * Events of a session as updates for an editor. Live sessions and the history of a loaded one use the same translation.
 *
 * 1. The editor learns of a call before it gets anything else about it.
 * 2. The input of other clients appears as a message of the user; that of this client does not, because the editor has it.
 */

import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { gapText } from "../../../base/gap-text.js";
import { hookText } from "../../../base/hook-text.js";
import { subagentLine } from "../../../base/subagent-line.js";
import { safeText } from "../../../base/terminal-text.js";
import type { InputContent } from "../../../protocol/content.js";
import type { Envelope } from "../../../protocol/envelope.js";
import type { EventPayloads, ToolKind } from "../../../protocol/events.js";
import type { CallId, ClientId } from "../../../protocol/ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.js";
import { endedCall, quotedContent, startedCall, textContent } from "./tool-calls.js";

/** Of a command's output while it runs; the result has all that the model gets. */
const MOST_PROGRESS = 20_000;

export class EventUpdates {
  readonly #cwd: string;
  /** Undefined while history is replayed: then all input appears. */
  readonly #self: ClientId | undefined;
  /** `isQuestion`: only its question is of this session; the call is one of a subagent. */
  readonly #calls = new Map<
    CallId,
    { progress: string; readonly kind: ToolKind | undefined; readonly isQuestion?: true }
  >();

  constructor(cwd: string, self?: ClientId) {
    this.#cwd = cwd;
    this.#self = self;
  }

  of(event: Envelope): readonly SessionUpdate[] {
    switch (event.kind) {
      case "TurnStarted":
        return event.originator === this.#self ? [] : userMessage(event.payload.input);
      case "InputSteered":
        return event.payload.from === this.#self ? [] : userMessage(event.payload.input);
      case "TextDelta":
        return answer(event.payload.text);
      case "ThinkingDelta":
        return thought(event.payload.text);
      case "AnswerRetracted":
        return answer("\n\n*(The model starts its answer again.)*\n\n");
      case "ToolCallStarted":
        return this.#announce(event.payload);
      case "ToolCallProgress":
        return this.#progress(event.payload);
      case "ToolResult":
        return this.#result(event.payload);
      case "PermissionRequested":
        return this.#calls.has(event.payload.call) ? [] : this.#announce(event.payload, { isQuestion: true });
      case "PermissionResolved":
        return this.#answered(event.payload);
      case "SubagentProgress":
        return this.#line(event.payload.call, subagentLine(event.payload));
      case "ModeChanged":
        return [{ sessionUpdate: "current_mode_update", currentModeId: event.payload.mode }];
      default:
        return notice(event);
    }
  }

  #announce(started: EventPayloads["ToolCallStarted"], more: { readonly isQuestion?: true } = {}) {
    this.#calls.set(started.call, { progress: "", kind: started.tool_kind, ...more });
    return this.#announcement(started);
  }

  #announcement(started: EventPayloads["ToolCallStarted"]): readonly SessionUpdate[] {
    return [{ sessionUpdate: "tool_call", ...startedCall(started, this.#cwd) }];
  }

  #answered({ call, decision }: EventPayloads["PermissionResolved"]): readonly SessionUpdate[] {
    const known = this.#calls.get(call);
    if (known === undefined) return [];
    if (known.isQuestion !== true) {
      return decision === "deny"
        ? []
        : [{ sessionUpdate: "tool_call_update", toolCallId: call, status: "in_progress" }];
    }
    this.#calls.delete(call);
    const status = decision === "deny" ? "failed" : "completed";
    return [{ sessionUpdate: "tool_call_update", toolCallId: call, status }];
  }

  #progress({ call, text }: EventPayloads["ToolCallProgress"]): readonly SessionUpdate[] {
    const known = this.#calls.get(call);
    if (known === undefined) return [];
    known.progress = (known.progress + text).slice(-MOST_PROGRESS);
    const content = [quotedContent(safeText(known.progress))];
    return [{ sessionUpdate: "tool_call_update", toolCallId: call, status: "in_progress", content }];
  }

  #line(call: CallId, line: string): readonly SessionUpdate[] {
    if (!this.#calls.has(call)) return [];
    const content = [textContent(safeText(line))];
    return [{ sessionUpdate: "tool_call_update", toolCallId: call, status: "in_progress", content }];
  }

  #result(result: EventPayloads["ToolResult"]): readonly SessionUpdate[] {
    const { call, tool } = result;
    const announced = this.#calls.has(call) ? [] : this.#announce({ call, tool, args: {} });
    const kind = this.#calls.get(call)?.kind;
    this.#calls.delete(call);
    const update = endedCall(result, { kind, cwd: this.#cwd });
    return [...announced, { sessionUpdate: "tool_call_update", ...update }, ...(kind === "plan" ? plan(result) : [])];
  }
}

function userMessage(input: readonly InputContent[]): readonly SessionUpdate[] {
  return input.map((block) => ({
    sessionUpdate: "user_message_chunk",
    content:
      block.type === "text"
        ? { type: "text", text: block.text }
        : { type: block.type, mimeType: block.media_type, data: block.data },
  }));
}

export function answer(text: string): readonly SessionUpdate[] {
  return text === "" ? [] : [{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }];
}

export function thought(text: string): readonly SessionUpdate[] {
  return text === "" ? [] : [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } }];
}

const PLAN_STATUS = { pending: "pending", in_progress: "in_progress", done: "completed" } as const;

/** The model's list of what is to be done. */
function plan({ status, details }: EventPayloads["ToolResult"]): readonly SessionUpdate[] {
  const todos = status === "ok" ? details?.todos : undefined;
  if (!Array.isArray(todos)) return [];
  const entries = todos.filter(isTodo).map((todo) => {
    return { content: todo.text, priority: "medium" as const, status: PLAN_STATUS[todo.status] };
  });
  return [{ sessionUpdate: "plan", entries }];
}

interface Todo extends JsonObject {
  readonly text: string;
  readonly status: keyof typeof PLAN_STATUS;
}

function isTodo(value: JsonValue): value is Todo {
  if (!isJsonObject(value) || typeof value.text !== "string") return false;
  return typeof value.status === "string" && Object.hasOwn(PLAN_STATUS, value.status);
}

/** Tells what the user should know and the model does not see. */
function notice(event: Envelope): readonly SessionUpdate[] {
  switch (event.kind) {
    case "Notice":
    case "RateLimited":
    case "Retrying":
      return aside(event.payload.message);
    case "FailedOver": {
      const { from, to, message } = event.payload;
      return aside(`${from.provider}:${from.model} → ${to.provider}:${to.model}: ${message}`);
    }
    case "ModelRouted": {
      const { provider, model, route, rule } = event.payload;
      return aside(`${provider}:${model} answers (@${route}: ${rule}).`);
    }
    case "HookTimeout":
    case "HookError":
      return aside(hookText(event));
    case "CompactionTriggered":
      return event.payload.summary === undefined ? [] : aside("A summary replaces the older messages.");
    case "StreamGap":
      return aside(gapText(event.payload));
    case "MCPServerDown":
      return aside(`The MCP server ${event.payload.name} is down: ${event.payload.reason}`);
    default:
      return [];
  }
}

function aside(message: string): readonly SessionUpdate[] {
  return thought(`${safeText(message)}\n`);
}
