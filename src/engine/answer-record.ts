/** Records the parts of an answer, so that it can be rebuilt from the events (`AnswerShape`). */
import type { AssistantBlock } from "../protocol/content.js";
import type { AnswerBlock, AnswerShape } from "../protocol/events.js";
import type { DeltaKind } from "./delta-merger.js";

export class AnswerRecord {
  readonly #blocks: AnswerBlock[] = [];
  /** Delta events since the last block of their kind. */
  readonly #deltas = { TextDelta: 0, ThinkingDelta: 0 };

  delta(kind: DeltaKind): void {
    this.#deltas[kind]++;
  }

  block(block: AssistantBlock): void {
    switch (block.type) {
      case "text":
        this.#blocks.push({ type: "text", deltas: this.#take("TextDelta") });
        return;
      case "thinking":
        this.#blocks.push({ type: "thinking", deltas: this.#take("ThinkingDelta") });
        return;
      case "tool_use": {
        const { call, malformed } = block;
        this.#blocks.push({ type: "tool_use", call, ...(malformed !== undefined && { malformed }) });
        return;
      }
      default:
        this.#blocks.push(block);
    }
  }

  /** Discards everything so far. */
  clear(): void {
    this.#blocks.length = 0;
    this.#take("TextDelta");
    this.#take("ThinkingDelta");
  }

  /** The shape, if the events alone do not give it; undefined for most answers. */
  shape({ complete, announced }: { readonly complete: boolean; readonly announced: number }): AnswerShape {
    const calls = this.#blocks.filter(({ type }) => type === "tool_use").length;
    return {
      ...(calls > announced && { calls }),
      ...(!isPlain(this.#blocks) && { blocks: this.#blocks }),
      ...(!complete && { interrupted: true as const }),
    };
  }

  #take(kind: DeltaKind): number {
    const count = this.#deltas[kind];
    this.#deltas[kind] = 0;
    return count;
  }
}

function isPlain(blocks: readonly AnswerBlock[]): boolean {
  let at = 0;
  if (blocks[at]?.type === "thinking") at++;
  if (blocks[at]?.type === "text") at++;
  return blocks.slice(at).every((block) => block.type === "tool_use" && block.malformed === undefined);
}
