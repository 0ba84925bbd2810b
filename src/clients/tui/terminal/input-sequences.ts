/** Splits terminal input into texts and escape sequences. */

export type InputPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "sequence"; readonly text: string };

export interface InputPieces {
  readonly pieces: readonly InputPiece[];
  /** The start of a sequence whose end has not come yet. */
  readonly rest: string;
}

export function cutInput(input: string): InputPieces {
  const pieces: InputPiece[] = [];
  let at = 0;
  while (at < input.length) {
    const next = input.indexOf("\x1b", at);
    if (next !== at) {
      const end = next === -1 ? input.length : next;
      pieces.push({ kind: "text", text: input.slice(at, end) });
      at = end;
      continue;
    }
    const length = sequenceLength(input, at);
    if (length === undefined) return { pieces, rest: input.slice(at) };
    pieces.push({ kind: "sequence", text: input.slice(at, at + length) });
    at += length;
  }
  return { pieces, rest: "" };
}

/** A mouse report of the oldest kind, a function key of the Linux console, a shifted key of rxvt, or the usual form. */
const CONTROL_SEQUENCE = /\x1b\[(?:M[\s\S]{3}|\[[A-E]|\d\d?\$(?!y)|[0-?]*[ -/]*[@-LN-~]|[0-?]+[ -/]*M)/y;
const UNFINISHED_CONTROL = /\x1b\[(?:M[\s\S]{0,2}|\[|[0-?]*[ -/]*)$/y;
const APPLICATION_KEY = /\x1bO\d?[A-Za-z]/y;
/** Alt with an arrow key, as some terminals send it. */
const ALT_ARROW = /\x1b\x1b(?:\[|O)[A-DFH]/y;
const STRING_START = /\x1b(?:\](?=\d)|P(?=[\d>?|$+!=])|_(?=[A-Z]))/y;
/** Answers are short. A longer one has lost its end. */
const LONGEST_ANSWER = 4096;

/** The length of the sequence at `at`; undefined while its end is missing. */
function sequenceLength(input: string, at: number): number | undefined {
  if (at + 1 >= input.length) return undefined;
  switch (input[at + 1]) {
    case "[":
      return controlLength(input, at);
    case "O":
      return matchLength(APPLICATION_KEY, input, at) ?? (input.length - at < 3 ? undefined : 2);
    case "\x1b":
      // Two presses of Escape, unless an arrow key follows.
      return matchLength(ALT_ARROW, input, at) ?? 1;
    case "]":
    case "P":
    case "_":
      return stringLength(input, at);
    default:
      return 1 + String.fromCodePoint(input.codePointAt(at + 1) ?? 0).length;
  }
}

function controlLength(input: string, at: number): number | undefined {
  const length = matchLength(CONTROL_SEQUENCE, input, at);
  if (length !== undefined) return length;
  if (matchLength(UNFINISHED_CONTROL, input, at) !== undefined) return undefined;
  // An invalid character ends the sequence.
  const broken = input.slice(at + 2).search(/[^\x20-\x3f]/);
  return 2 + Math.max(0, broken);
}

function stringLength(input: string, at: number): number | undefined {
  if (input.length - at === 2) return undefined;
  if (matchLength(STRING_START, input, at) === undefined) return 2;
  const end = /\x07|\x1b\\/g;
  end.lastIndex = at + 2;
  const found = end.exec(input);
  if (found !== null && found.index - at <= LONGEST_ANSWER) return found.index + found[0].length - at;
  return input.length - at > LONGEST_ANSWER ? 2 : undefined;
}

function matchLength(pattern: RegExp, input: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.exec(input)?.[0].length;
}

/** Reports of the terminal: state, focus, mouse, colours. Never a key. */
const ANSWER = /^\x1b(?:\](?=.)|P(?=.)|_(?=.)|\[(?:[?>=<].*|M[\s\S]{3}|[IO]|\d+;\d+R|[\d;]+[ctn]|[\d;:]*m|.*\$y)$)/s;

export function isAnswer(sequence: string): boolean {
  return ANSWER.test(sequence);
}
