/**
 * What is left of an event when its content has expired (feature S5): who, when, which tool, how it ended, what it cost. Words
 * of people, models, files and commands are gone; a reader sees the marker in their place and the payload keeps its shape.
 */
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { EXPIRED } from "../protocol/events.js";

export function withoutContent(event: Envelope): Envelope {
  return { ...event, payload: remains(event) } as Envelope;
}

function remains(event: Envelope): Envelope["payload"] {
  switch (event.kind) {
    case "TurnStarted":
    case "InputQueued":
    case "InputSteered":
      return { ...event.payload, input: [text(EXPIRED)] };
    case "InputDropped":
      return { ...event.payload, inputs: event.payload.inputs.map(() => [text(EXPIRED)]) };
    case "TextDelta":
      return { text: EXPIRED };
    case "ThinkingDelta":
      return { text: EXPIRED, ...(event.payload.provider !== undefined && { provider: event.payload.provider }) };
    case "ToolCallStarted":
      return { ...event.payload, args: {} };
    case "ToolCallProgress":
      return { ...event.payload, text: EXPIRED };
    case "ToolResult": {
      const { call, tool, status } = event.payload;
      return { call, tool, status, content: [text(EXPIRED)] };
    }
    case "TurnEnded": {
      const { failure, ...rest } = event.payload;
      return { ...rest, text: EXPIRED, ...(failure && { failure: { ...failure, message: EXPIRED } }) };
    }
    case "RateLimited":
    case "Retrying":
    case "FailedOver":
    case "Error":
      return { ...event.payload, message: EXPIRED };
    case "PermissionRequested":
      return { ...event.payload, args: {}, summary: EXPIRED };
    case "PermissionResolved": {
      const { message, ...rest } = event.payload;
      return message === undefined ? rest : { ...rest, message: EXPIRED };
    }
    case "CompactionTriggered": {
      const { summary, ...rest } = event.payload;
      return summary === undefined ? rest : { ...rest, summary: EXPIRED };
    }
    case "CostIncremented": {
      // The shape may quote what the model sent.
      const { answer: _answer, ...rest } = event.payload;
      return rest;
    }
    case "HookTimeout":
    case "HookError":
      return { ...event.payload, command: EXPIRED };
    case "CustomEvent":
      return { ...event.payload, payload: EXPIRED };
    default:
      return event.payload;
  }
}
