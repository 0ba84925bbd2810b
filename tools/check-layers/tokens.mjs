/**
 * Splits TypeScript into tokens, precisely enough to find imports and names.
 *
 * 1. Comments yield nothing; a string, a regular expression or a template without holes is one token.
 * 2. A template with holes yields the tokens inside its holes: code there counts as code.
 * 3. The token before a `/` decides whether it divides or opens a regular expression. Neither a regular expression nor
 *    a quoted string crosses a line, so that a wrong guess (after the `)` of an `if`) ends with the line.
 *
 * A token is `{ kind: "name" | "string" | "regexp" | "number" | "sign", text, line }`; a string's text is its content.
 */

const BLANK = /\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;
const STRING = /(["'])((?:\\[\s\S]?|(?!\1)[^\\\n])*)(?:\1|(?=\n)|$)/y;
const REGEXP = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/[\\\n])+\/[a-z]*/y;
const NUMBER = /\.?\d[\w.]*/y;
const NAME = /[A-Za-z$_#\u0080-\uffff][\w$\u0080-\uffff]*/y;
const SIGN = /\?\.(?!\d)|=>|\.\.\.|[\s\S]/y;
const TEMPLATE_TEXT = /(?:[^\\`$]+|\\[\s\S]?|\$(?!\{))*(`|\$\{|$)/y;

// Names after which a `/` opens a regular expression, though a name mostly is a value that can be divided.
const OPERATORS = new Set(
  "return typeof instanceof in of new delete void throw case do else yield await default extends".split(" "),
);

export function tokenize(source) {
  const scanner = new Scanner(source);
  scanner.run();
  return scanner.tokens;
}

class Scanner {
  tokens = [];
  #source;
  #position = 0;
  #line = 1;
  /** For each template hole that is open: the number of braces open inside it. */
  #holes = [];

  constructor(source) {
    this.#source = source;
  }

  run() {
    if (this.#source.startsWith("#!")) this.#position = (this.#source.indexOf("\n") + 1 || this.#source.length + 1) - 1;
    while (this.#position < this.#source.length) {
      if (this.#take(BLANK) === undefined) this.#readToken(this.#source[this.#position]);
    }
  }

  #readToken(first) {
    const line = this.#line;
    if (first === "`") this.#readTemplate();
    else if (first === "}" && this.#holes.at(-1) === 0) this.#leaveHole();
    else if (first === '"' || first === "'") this.#push("string", { text: this.#take(STRING)[2], line });
    else if (first === "/" && this.#mayOpenRegexp() && this.#add("regexp", REGEXP)) return;
    else if (!this.#add("number", NUMBER) && !this.#add("name", NAME)) this.#readSign(first);
  }

  #readTemplate() {
    const line = this.#line;
    this.#position += 1;
    const [whole, end] = this.#take(TEMPLATE_TEXT);
    if (end === "${") this.#enterHole();
    else this.#push("string", { text: whole.slice(0, whole.length - end.length), line });
  }

  #enterHole() {
    this.#holes.push(0);
    this.#push("sign", { text: "${", line: this.#line });
  }

  #leaveHole() {
    this.#holes.pop();
    this.#position += 1;
    this.#push("sign", { text: "}", line: this.#line });
    const [, end] = this.#take(TEMPLATE_TEXT);
    if (end === "${") this.#enterHole();
  }

  #readSign(first) {
    const depth = this.#holes.length - 1;
    if (depth >= 0 && first === "{") this.#holes[depth] += 1;
    if (depth >= 0 && first === "}") this.#holes[depth] -= 1;
    this.#add("sign", SIGN);
  }

  #mayOpenRegexp() {
    const before = this.tokens.at(-1);
    if (before === undefined) return true;
    if (before.kind === "name") return OPERATORS.has(before.text);
    return before.kind === "sign" && ![")", "]", "}"].includes(before.text);
  }

  #add(kind, pattern) {
    const line = this.#line;
    const found = this.#take(pattern);
    if (found !== undefined) this.#push(kind, { text: found[0], line });
    return found !== undefined;
  }

  #push(kind, { text, line }) {
    this.tokens.push({ kind, text, line });
  }

  /** Moves past `pattern` if it is next. */
  #take(pattern) {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#source);
    if (found === null) return undefined;
    this.#position = pattern.lastIndex;
    for (let at = found[0].indexOf("\n"); at !== -1; at = found[0].indexOf("\n", at + 1)) this.#line += 1;
    return found;
  }
}
