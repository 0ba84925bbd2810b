/** The output of a program as the screen would finally show it, for the model. */

/** Colours, cursor movements, titles and other escape sequences. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-Z\\^-~])/g;
/** Control characters that do not belong in text; session stores cannot hold NUL. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const PLAIN = /^[\t\n\x20-\x7e]*$/;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export interface Edges {
  /** The bytes may begin or end within a character; partial characters are dropped. */
  readonly cutBefore?: true;
  readonly cutAfter?: true;
}

export function commandText(bytes: Uint8Array, edges: Edges = {}): string {
  const from = edges.cutBefore ? characterStart(bytes) : 0;
  const to = edges.cutAfter ? wholeCharactersEnd(bytes) : bytes.length;
  const text = decoder.decode(bytes.subarray(from, Math.max(from, to)));
  if (PLAIN.test(text)) return text;
  const lines = text.replace(ESCAPES, "").replace(/\r+\n/g, "\n").split("\n");
  return lines.map(lastState).join("\n").replace(CONTROLS, "\ufffd");
}

/** The index after the last character that is complete. */
export function wholeCharactersEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

function characterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return start;
}

/** A progress bar overwrites its own line: only the last text counts. */
function lastState(line: string): string {
  if (!/[\r\b]/.test(line)) return line;
  const segments = line.split("\r");
  let last = segments.pop() ?? "";
  while (last === "" && segments.length > 0) last = segments.pop() ?? "";
  if (!last.includes("\b")) return last;
  const shown: string[] = [];
  for (const char of last) {
    if (char === "\b") shown.pop();
    else shown.push(char);
  }
  return shown.join("");
}
