/** What a person sends: words for the model, a slash command, or a command for the shell. */

export type Sent =
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "slash"; readonly name: string; readonly rest: string }
  /** `!command`; `!!command` also shows it and its output to the model. */
  | { readonly kind: "shell"; readonly command: string; readonly shown: "person" | "model" };

/** `/name`, `/namespace:name`: what has another slash in its first word is a path, and a path is words. */
const SLASH = /^\/([^\s/]*)(?:\s+(.*))?$/s;

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
