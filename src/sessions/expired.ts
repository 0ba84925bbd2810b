/**
 * What remains of an event after its content expired: client, time, tool, outcome, cost. A marker
 * replaces the words of people, models, files and commands, and the payload keeps its shape.
 */
import { withOldShape } from "../protocol/answer-ends.js";
import { text } from "../protocol/content.js";
import type { Envelope } from "../protocol/envelope.js";
import { EXPIRED } from "../protocol/events.js";

export function withoutContent(event: Envelope, marker: string = EXPIRED): Envelope {
  return { ...event, payload: remains(event, marker) } as Envelope;
}

function remains(event: Envelope, marker: string): Envelope["payload"] {
  switch (event.kind) {
    case "TurnStarted":
    case "InputQueued":
    case "InputSteered":
      return { ...event.payload, input: [text(marker)] };
    case "InputDropped":
      return { ...event.payload, inputs: event.payload.inputs.map(() => [text(marker)]) };
    case "ContextAdded":
      return { ...event.payload, text: marker };
    case "TextDelta":
      return { text: marker };
    case "ThinkingDelta":
      return { text: marker, ...(event.payload.provider !== undefined && { provider: event.payload.provider }) };
    case "ToolCallStarted":
      return { ...event.payload, args: {} };
    case "ToolCallProgress":
      return { ...event.payload, text: marker };
    case "ToolResult": {
      const { call, tool, status } = event.payload;
      return { call, tool, status, content: [text(marker)] };
    }
    case "ToolResultChanged":
      return { ...event.payload, content: [text(marker)] };
    case "TurnEnded": {
      const { failure, ...rest } = event.payload;
      return { ...rest, text: marker, ...(failure && { failure: { ...failure, message: marker } }) };
    }
    case "RateLimited":
    case "Retrying":
    case "FailedOver":
    case "Error":
      return { ...event.payload, message: marker };
    case "PermissionRequested":
      return { ...event.payload, args: {}, summary: marker };
    case "PermissionResolved": {
      const { message, ...rest } = event.payload;
      return message === undefined ? rest : { ...rest, message: marker };
    }
    case "CompactionTriggered": {
      const { summary, ...rest } = event.payload;
      return summary === undefined ? rest : { ...rest, summary: marker };
    }
    case "CostIncremented":
      return withOldShape(event.payload, undefined);
    case "AnswerEnded": {
      // The blocks may quote what the model sent.
      const { blocks: _blocks, calls: _calls, interrupted: _interrupted, ...rest } = event.payload;
      return rest;
    }
    case "SubagentStarted":
      return { ...event.payload, description: marker };
    case "SubagentProgress":
      return { ...event.payload, text: marker };
    case "HookTimeout":
    case "HookError":
      return { ...event.payload, command: marker };
    case "CustomEvent":
      return { ...event.payload, payload: marker };
    default:
      return event.payload;
  }
}
