/** What a typed input is, in every client: text for the model, a slash command, or a shell command. */
import { readSlashLine, type SlashLine } from "../protocol/slash-command.js";

export type TypedInput =
  | { readonly kind: "prompt"; readonly text: string }
  | ({ readonly kind: "slash" } & SlashLine)
  /** `!command`; `!!command` also shows it and its output to the model. */
  | { readonly kind: "shell"; readonly command: string; readonly shown: "person" | "model" };

export function readTypedInput(text: string): TypedInput {
  const trimmed = text.trim();
  if (trimmed.startsWith("!!") && trimmed.length > 2) {
    return { kind: "shell", command: trimmed.slice(2).trim(), shown: "model" };
  }
  if (trimmed.startsWith("!") && /[^!]/.test(trimmed)) {
    return { kind: "shell", command: trimmed.slice(1).trim(), shown: "person" };
  }
  const slash = readSlashLine(trimmed);
  return slash === undefined ? { kind: "prompt", text } : { kind: "slash", ...slash };
}
