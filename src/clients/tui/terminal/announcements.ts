/** Escape sequences for the desktop: title, notification, progress, clipboard. */
import { safeLine } from "../../../base/terminal-text.js";
import type { Abilities } from "./abilities.js";

export const BELL = "\x07";
export const PUSH_TITLE = "\x1b[22;0t";
export const POP_TITLE = "\x1b[23;0t";

const LONGEST_TITLE = 200;
const LONGEST_NOTICE = 300;
/** Terminals refuse or cut longer ones. */
const LONGEST_COPY = 74_000;

export function titleBytes(title: string): string {
  return `\x1b]0;${cut(title, LONGEST_TITLE)}\x07`;
}

export function notificationBytes(text: string, abilities: Abilities): string {
  const words = cut(text, LONGEST_NOTICE);
  switch (abilities.notification) {
    case "osc99":
      return passOn(`\x1b]99;;${words}\x1b\\`, abilities);
    case "osc777":
      return passOn(`\x1b]777;notify;Oxbow;${words.replaceAll(";", ",")}\x07`, abilities);
    case "osc9":
      // Digits and a semicolon would be another command.
      return passOn(`\x1b]9;${/^\d+(?:;|$)/.test(words) ? `Oxbow: ${words}` : words}\x07`, abilities);
    case "none":
      return "";
  }
}

const PROGRESS = { none: "0;0", busy: "3;0", waiting: "4;100" } as const;

export function progressBytes(state: keyof typeof PROGRESS): string {
  return `\x1b]9;4;${PROGRESS[state]}\x07`;
}

/** Undefined if no terminal would accept it. */
export function copyBytes(text: string, abilities: Abilities): string | undefined {
  const bytes = Buffer.from(text, "utf8");
  if (!abilities.strings || bytes.length > LONGEST_COPY) return undefined;
  const sequence = `\x1b]52;c;${bytes.toString("base64")}\x07`;
  // tmux accepts one form or the other, depending on its configuration.
  return abilities.isTmux ? sequence + passOn(sequence, abilities) : sequence;
}

/** Wrapped so that tmux passes it to the outer terminal. */
function passOn(sequence: string, { isTmux }: Abilities): string {
  return isTmux ? `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\` : sequence;
}

function cut(text: string, length: number): string {
  return Array.from(safeLine(text)).slice(0, length).join("");
}
