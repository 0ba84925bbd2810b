/**
 * Finds calls that a model wrote as text, for Chat Completions servers that do not know the model's template. (Ollama's wire does
 * this itself.)
 */
import type { Model, ModelEvent, ToolSpec } from "../../engine/ports.js";
import { text } from "../../protocol/content.js";
import { finishText, NO_TEXT_CALLS, pushText, type TextPart } from "../wire/text-calls.js";

export function withTextCalls(model: Model): Model {
  return {
    ...model,
    async *stream(request, context) {
      if (request.tools.length === 0) {
        yield* model.stream(request, context);
        return;
      }
      const recovery = new Recovery(request.tools);
      for await (const batch of model.stream(request, context)) {
        const events = batch.flatMap((event) => recovery.take(event));
        if (events.length > 0) yield events;
      }
    },
  };
}

class Recovery {
  readonly #tools: readonly ToolSpec[];
  #state = NO_TEXT_CALLS;
  /** Shown and not yet closed as a block. */
  #shown = "";
  #called = false;

  constructor(tools: readonly ToolSpec[]) {
    this.#tools = tools;
  }

  take(event: ModelEvent): readonly ModelEvent[] {
    switch (event.type) {
      case "text": {
        const { state, parts } = pushText(this.#state, event.text, this.#tools);
        this.#state = state;
        return this.#show(parts);
      }
      case "block":
        // We make our own text blocks, because some text may have become a call.
        return event.block.type === "text" ? [] : [...this.#flush(), event];
      case "stop":
        return [...this.#flush(), this.#called && event.reason === "end" ? { ...event, reason: "tool_calls" } : event];
      case "thinking":
        return [...this.#flush(), event];
      case "failure": {
        // In an interrupted answer, half a call does not count.
        const { held } = this.#state;
        this.#state = NO_TEXT_CALLS;
        return [...this.#show(held === "" ? [] : [{ type: "text", text: held }]), ...this.#close(), event];
      }
      default:
        return [event];
    }
  }

  #flush(): readonly ModelEvent[] {
    const parts = finishText(this.#state, this.#tools);
    this.#state = NO_TEXT_CALLS;
    return [...this.#show(parts), ...this.#close()];
  }

  #show(parts: readonly TextPart[]): readonly ModelEvent[] {
    return parts.flatMap((part): readonly ModelEvent[] => {
      if (part.type === "call") {
        this.#called = true;
        return [...this.#close(), { type: "block", block: part.call }];
      }
      this.#shown += part.text;
      return [{ type: "text", text: part.text }];
    });
  }

  #close(): readonly ModelEvent[] {
    if (this.#shown === "") return [];
    const block = text(this.#shown);
    this.#shown = "";
    return [{ type: "block", block }];
  }
}
