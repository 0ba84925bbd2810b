/** Cleans pasted text, and makes the label that the screen shows for a long paste. */

/** No text that a terminal sends can hold one. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

const SURROGATE = /[\ud800-\udfff]/;
const SEQUENCES = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]/g;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

/** Text without terminal sequences and control characters except tab and newline. */
export function cleanPaste(text: string): string {
  let clean = text.includes("\x1b") ? text.replace(/\x1b\[(\d+);5u/g, typedControl).replace(SEQUENCES, "") : text;
  if (clean.includes("\r")) clean = clean.replace(/\r\n?/g, "\n");
  if (CONTROLS.test(clean)) clean = clean.replace(new RegExp(CONTROLS, "g"), "");
  return SURROGATE.test(clean) ? clean.replace(LONE_SURROGATE, "\ufffd") : clean;
}

/** Terminals with extended keys encode a pasted control character as the key that produces it. */
function typedControl(sequence: string, code: string): string {
  const letter = Number(code) & 0x1f;
  return letter === 9 || letter === 10 || letter === 13 ? String.fromCharCode(letter) : sequence;
}

/** `[pasted 200 lines]`. */
export function pasteLabel(text: string): string {
  const lines = countLines(text);
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${text.length} characters]`;
}

/** A newline at the end does not begin another line. */
function countLines(text: string): number {
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** The first line, and how many follow it. */
export function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return end === -1 ? text : `${text.slice(0, end)} (+${countLines(text.slice(end + 1))} lines)`;
}
