import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { CANONICAL_FORM_VERSION } from "../../protocol/handshake.js";
import { createHttpModel } from "../http-model.js";
import { anthropic } from "./anthropic.js";
import { executable } from "./executable.js";
import { gemini } from "./gemini.js";
import { ollama } from "./ollama.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";

describe("a wire", () => {
  verifies(["C2"], "is written for the canonical messages of this version, or is refused", () => {
    const wires = [anthropic, openaiChat, openaiResponses, gemini, ollama, executable];
    expect(wires.map(({ canonicalForm }) => canonicalForm)).toEqual(wires.map(() => CANONICAL_FORM_VERSION));
    const other = { ...anthropic, canonicalForm: 2 };
    const endpoint = { provider: "p", family: "p", baseUrl: "http://127.0.0.1:1", local: true };
    expect(() => createHttpModel({ wire: other, endpoint, model: "m" } as never)).toThrow(
      "anthropic is written for version 2 of the canonical messages; Oxbow has 1",
    );
  });
});
