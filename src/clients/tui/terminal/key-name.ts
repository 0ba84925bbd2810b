/** Names keys: pi-tui's names, with the differences that the client needs. */
import { decodePrintableKey, isKeyRelease, parseKey } from "@earendil-works/pi-tui/dist/keys.js";
import type { Key } from "./terminal.js";

/** Keys without a character, in the private area of Unicode: Caps Lock, media keys. */
const FUNCTIONAL = /^[\ue000-\uf8ff]$/;
/** The library takes Alt-P and Alt-N of older protocols for arrow keys. */
const ALT_LETTER = /^\x1b([pn])$/;
const ALT_ARROW = /^\x1b\x1b(?:\[|O)([A-DFH])$/;

/** Keys that people press for another key, and that only newer protocols distinguish. */
const SAME_KEYS: Readonly<Record<string, Key>> = {
  "ctrl+[": { id: "escape", data: "\x1b" },
  "ctrl+m": { id: "enter", data: "\r" },
  "ctrl+i": { id: "tab", data: "\t" },
};

/** Undefined for a key release and for an unknown sequence. */
export function nameKey(data: string): Key | undefined {
  // Enter sends a carriage return. A line feed is Ctrl-J.
  if (data === "\n") return { id: "ctrl+j", data };
  if (!data.startsWith("\x1b")) return { id: parseKey(data), data };
  if (isKeyRelease(data)) return undefined;
  const arrow = ALT_ARROW.exec(data)?.[1];
  if (arrow !== undefined) return nameKey(`\x1b[1;3${arrow}`);
  const letter = ALT_LETTER.exec(data)?.[1];
  if (letter !== undefined) return { id: `alt+${letter}`, data };
  // A character that came as a sequence becomes the character, so that readers need only one form.
  const character = decodePrintableKey(data);
  if (character !== undefined)
    return FUNCTIONAL.test(character) ? undefined : { id: parseKey(character), data: character };
  const id = parseKey(data);
  if (id === undefined) return undefined;
  return SAME_KEYS[id] ?? { id, data };
}
