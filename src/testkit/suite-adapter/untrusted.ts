/** `wrap_untrusted`: text from outside as a model gets it, and the mark that delimits it. */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../protocol/json.js";
import { createMark, wrapUntrusted } from "../../security/untrusted/untrusted.js";

export function handleWrapUntrusted({ text, kind, source }: JsonObject): JsonObject {
  const mark = createMark((bytes) => randomBytes(bytes));
  const content = { text: String(text ?? ""), kind: String(kind ?? ""), source: String(source ?? "") };
  return { text: wrapUntrusted(content, mark), mark };
}
