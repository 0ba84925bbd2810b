/** The embedding program's handlers, and how events reach them. */
import type { HarnessEvent, HarnessStatus } from "../control/transports/simple-events.js";
import type { JsonObject } from "../protocol/json.js";
import { refuseUnknown } from "./options.js";

/** All optional. They run on the harness's own stack, so they should be quick; one that throws ends the prompt with its error. */
export interface HarnessHandler {
  /** The prompt is in the conversation. */
  onUser?(content: string): void;
  /** A block of text is complete. */
  onText?(content: string): void;
  /** A block of reasoning is complete, where the provider shows it. */
  onReasoning?(content: string): void;
  /** A tool call is complete in the answer; it has not been run yet. */
  onToolCall?(id: string, name: string, input: JsonObject): void;
  onToolResult?(id: string, result: string, isError: boolean): void;
  onStatus?(status: HarnessStatus): void;
}

const KNOWN_HANDLER: Readonly<Record<keyof HarnessHandler, true>> = {
  onUser: true,
  onText: true,
  onReasoning: true,
  onToolCall: true,
  onToolResult: true,
  onStatus: true,
};

/** A handler may be any object; members with the name of a handler must be functions. */
export function refuseUnknownHandlers(handler: HarnessHandler | null | undefined): void {
  const named = Object.entries(handler ?? {}).filter(([name]) => /^on[A-Z]/.test(name));
  refuseUnknown<HarnessHandler>("the handler", Object.fromEntries(named), KNOWN_HANDLER);
}

export function callHandler(handler: HarnessHandler, event: HarnessEvent): void {
  switch (event.type) {
    case "user":
      handler.onUser?.(event.content);
      break;
    case "text":
      handler.onText?.(event.content);
      break;
    case "reasoning":
      handler.onReasoning?.(event.content);
      break;
    case "tool_call":
      handler.onToolCall?.(event.id, event.name, event.input);
      break;
    case "tool_result":
      handler.onToolResult?.(event.id, event.result, event.isError);
      break;
    case "status":
      handler.onStatus?.({ state: event.state, message: event.message });
      break;
  }
}
