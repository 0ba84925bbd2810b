/** Classifies an input: text for the model, a slash command, or a shell command. */

export type Sent =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "slash"; readonly name: string; readonly rest: string }
  /** `!command`; `!!command` also shows it and its output to the model. */
  | { readonly kind: "shell"; readonly command: string; readonly shown: "person" | "model" };

/** `/name`, `/ name`, `/namespace:name`: a first word with another slash is a path, and a path is text. */
const SLASH = /^\/\s*([^\s/]*)(?:\s+(.*))?$/s;

export function classify(text: string): Sent {
  const trimmed = text.trim();
  if (trimmed.startsWith("!!") && trimmed.length > 2) {
    return { kind: "shell", command: trimmed.slice(2).trim(), shown: "model" };
  }
  if (trimmed.startsWith("!") && /[^!]/.test(trimmed)) {
    return { kind: "shell", command: trimmed.slice(1).trim(), shown: "person" };
  }
  const slash = SLASH.exec(trimmed);
  if (slash !== null) return { kind: "slash", name: slash[1] ?? "", rest: slash[2] ?? "" };
  return { kind: "prompt", text };
}
