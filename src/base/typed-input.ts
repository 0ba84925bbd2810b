/** Reads a typed input, in every client: text for the model, a slash command, or a shell command. */
import { readSlashLine, type SlashLine } from "../protocol/slash-command.js";

export type TypedInput =
  | { readonly kind: "prompt"; readonly text: string }
  | ({ readonly kind: "slash" } & SlashLine)
  /** `!command` shares its output with the model, `!!command` does not. */
  | { readonly kind: "shell"; readonly command: string; readonly share: boolean };

export function readTypedInput(text: string): TypedInput {
  const trimmed = text.trim();
  if (trimmed.startsWith("!!") && trimmed.length > 2) {
    return { kind: "shell", command: trimmed.slice(2).trim(), share: false };
  }
  if (trimmed.startsWith("!") && /[^!]/.test(trimmed)) {
    return { kind: "shell", command: trimmed.slice(1).trim(), share: true };
  }
  const slash = readSlashLine(trimmed);
  return slash === undefined ? { kind: "prompt", text } : { kind: "slash", ...slash };
}
