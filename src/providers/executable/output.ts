/**
 * Describes what an executable provider writes, as frames of its protocol. The first character decides what it is:
 *
 * 1. `{` begins JSON: a line each, or one answer over several lines.
 * 2. Anything else is the answer itself, as plain text, shown while it is written.
 */
import { Utf8Stream } from "../../base/utf8-stream.js";
import { parseJson } from "../wire/fields.js";
import type { FrameDecoder } from "../wire/framing.js";
import type { Frame } from "../wire/wire.js";

export function createOutputDecoder(): FrameDecoder {
  return new OutputDecoder();
}

class OutputDecoder implements FrameDecoder {
  readonly #utf8 = new Utf8Stream();
  #kind: "unknown" | "text" | "lines" | "whole" = "unknown";
  #held = "";

  push(bytes: Uint8Array): readonly Frame[] {
    return this.#take(this.#utf8.push(bytes));
  }

  end(): readonly Frame[] {
    const frames = this.#take(this.#utf8.end());
    const rest = this.#held.trim();
    this.#held = "";
    return rest === "" || this.#kind === "text" ? frames : [...frames, frame(rest)];
  }

  #take(text: string): readonly Frame[] {
    this.#held += text;
    if (this.#kind === "unknown") this.#decide();
    switch (this.#kind) {
      case "text":
        return this.#text();
      case "lines":
        return this.#lines();
      default:
        return [];
    }
  }

  #decide(): void {
    const start = this.#held.trimStart();
    if (start === "") return;
    if (!start.startsWith("{")) {
      this.#kind = "text";
      return;
    }
    const end = start.indexOf("\n");
    if (end !== -1) this.#kind = parseJson(start.slice(0, end)) === undefined ? "whole" : "lines";
  }

  #text(): readonly Frame[] {
    // The final newline is not part of the answer, and only later text shows which newline is the final one.
    const kept = /\s*$/.exec(this.#held)?.index ?? this.#held.length;
    const ready = this.#held.slice(0, kept);
    this.#held = this.#held.slice(kept);
    return ready === "" ? [] : [frame(JSON.stringify({ type: "text", text: ready }))];
  }

  #lines(): readonly Frame[] {
    const lines = this.#held.split("\n");
    this.#held = lines.pop() ?? "";
    return lines.filter((line) => line.trim() !== "").map(frame);
  }
}

function frame(data: string): Frame {
  return { event: "", data };
}
