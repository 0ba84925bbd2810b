/** Pasted text: what of it is text, and what the screen shows for a long one. */

/** No text that a terminal sends can hold one. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Text without terminal sequences and control characters but tab and newline. */
export function cleanPaste(text: string): string {
  return (
    text
      // Terminals with extended keys write a pasted control character as the key that makes it.
      .replace(/\x1b\[(\d+);5u/g, (sequence, code: string) => {
        const letter = Number(code) & 0x1f;
        return letter === 9 || letter === 10 || letter === 13 ? String.fromCharCode(letter) : sequence;
      })
      .replace(/\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]/g, "")
      .replace(/\r\n?/g, "\n")
      .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "")
      .replace(LONE_SURROGATE, "\ufffd")
  );
}

/** `[pasted 200 lines]`. */
export function pasteLabel(text: string): string {
  const lines = countLines(text);
  return lines > 1 ? `[pasted ${lines} lines]` : `[pasted ${text.length} characters]`;
}

/** A newline at the end begins no line. */
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
