/** The terminal modes that the client sets, and the sequences that reset them. */

const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
/** Modified keys such as Shift-Enter in the form of xterm. Some terminals read it as a style, so the style is reset. */
const OTHER_KEYS_ON = "\x1b[>4;2m\x1b[m";
const OTHER_KEYS_OFF = "\x1b[>4;0m\x1b[m";
/** The kitty protocol: keys that would be ambiguous, with the key of the Latin layout. Without key releases. */
const KITTY_PUSH = "\x1b[>5u";
const KITTY_POP = "\x1b[<u";
const ALTERNATE_ON = "\x1b[?1049h";
const ALTERNATE_OFF = "\x1b[?1049l";
/** Ends a synchronized update and every style; wraps and shows the cursor again. */
const PLAIN = "\x1b[?2026l\x1b[m\x1b[?7h\x1b[?25h";

/** Ends a sequence that was cut in the middle. */
export const CANCEL_SEQUENCE = "\x18";

/** Queries the kitty protocol, the background colour, the version, and last a value that every terminal reports. */
export const QUESTIONS = "\x1b[?u\x1b]11;?\x07\x1b[>c\x1b[c";

/** Every terminal gives this answer, and the others before it. */
export const LAST_ANSWER = /^\x1b\[\?[\d;]*c$/;

/** For a terminal that supports the kitty protocol. */
export const SWITCH_TO_KITTY = OTHER_KEYS_OFF + KITTY_PUSH;

export interface Modes {
  readonly hasKitty: boolean;
  readonly isFullScreen: boolean;
}

export function enterModes(modes: Modes): string {
  return PASTE_ON + (modes.hasKitty ? KITTY_PUSH : OTHER_KEYS_ON) + (modes.isFullScreen ? enterFullScreen(modes) : "");
}

export function leaveModes(modes: Modes): string {
  const screen = modes.isFullScreen ? leaveFullScreen(modes) : "";
  return PLAIN + screen + (modes.hasKitty ? KITTY_POP : OTHER_KEYS_OFF) + PASTE_OFF;
}

/** A terminal has a separate state of the kitty protocol for each screen, so the alternate one needs its own. */
export function enterFullScreen({ hasKitty }: Pick<Modes, "hasKitty">): string {
  return ALTERNATE_ON + (hasKitty ? KITTY_PUSH : "");
}

export function leaveFullScreen({ hasKitty }: Pick<Modes, "hasKitty">): string {
  return (hasKitty ? KITTY_POP : "") + ALTERNATE_OFF;
}
