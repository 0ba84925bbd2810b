/** Groups, conditions, loops and functions. */
import type { Source } from "./source.js";
import type { Compound, CompoundKind, Script, Word } from "./syntax.js";
import { expectWord, reservedWordHere, skipBlanks, skipLines } from "./tokens.js";
import { readArithmetic, readWord } from "./words.js";

/** A compound command without the redirects after it. */
export type CompoundBody = Pick<Compound, "kind" | "words" | "bodies"> & { readonly type: "compound" };

function compoundOf(kind: CompoundKind, bodies: readonly Script[], words: readonly Word[] = []): CompoundBody {
  return { type: "compound", kind, bodies, words };
}

/** The compound command here; undefined where none starts. */
export function readCompound(source: Source, start: number): CompoundBody | undefined {
  if (source.peek() === "(") return readParenthesized(source);
  const word = reservedWordHere(source);
  if (word === undefined) return undefined;
  readWord(source);
  switch (word) {
    case "{":
      return compoundOf("group", [body(source, "}")]);
    case "if":
      return compoundOf("if", readIf(source));
    case "while":
    case "until":
      return compoundOf(word, [body(source, "do"), body(source, "done")]);
    case "for":
    case "select":
      return readFor(source, word);
    case "case":
      return readCase(source);
    case "function":
      return readFunction(source);
    case "[[":
      return compoundOf("conditional", [], readConditional(source));
    case "coproc":
      skipBlanks(source);
      return compoundOf("coprocess", [{ items: [{ command: source.scripts.command(source), operator: "" }] }]);
    default:
      return source.fail(`unexpected "${word}"`, start);
  }
}

function readParenthesized(source: Source): CompoundBody {
  if (source.ahead(1) === "(") {
    source.take("((");
    return compoundOf("arithmetic", [], [{ parts: [readArithmetic(source)], text: "" }]);
  }
  source.take("(");
  const script = source.scripts.upToParenthesis(source);
  if (script.items.length === 0) source.fail("a subshell is empty");
  return compoundOf("subshell", [script]);
}

/** A list that must not be empty, and the word that ends it. */
function body(source: Source, ...ends: string[]): Script {
  const script = source.scripts.list(source, ends);
  if (script.items.length === 0) source.fail(`there is no command before "${ends[0]}"`);
  expectWord(source, ends);
  return script;
}

function readIf(source: Source): Script[] {
  const bodies = [body(source, "then")];
  for (;;) {
    const script = source.scripts.list(source, ["elif", "else", "fi"]);
    if (script.items.length === 0) source.fail('there is no command after "then"');
    bodies.push(script);
    const word = expectWord(source, ["elif", "else", "fi"]);
    if (word === "fi") return bodies;
    bodies.push(body(source, word === "elif" ? "then" : "fi"));
    if (word === "else") return bodies;
  }
}

function readFor(source: Source, kind: "for" | "select"): CompoundBody {
  skipBlanks(source);
  const words: Word[] = [];
  if (kind === "for" && source.startsWith("((")) source.fail("it uses the arithmetic form of for");
  if (!/^[A-Za-z_]\w*$/.test(readWord(source)?.text ?? "")) source.fail(`"${kind}" has no variable`);
  skipLines(source);
  if (reservedWordHere(source) === "in") {
    readWord(source);
    for (;;) {
      skipBlanks(source);
      const word = readWord(source);
      if (word === undefined) break;
      words.push(word);
    }
    if (source.peek() !== "\n" && source.peek() !== ";") source.fail(`the list of "${kind}" does not end`);
  }
  if (source.peek() === ";" && source.ahead(1) !== ";") source.take(";");
  skipLines(source);
  expectWord(source, ["do"]);
  return compoundOf(kind, [body(source, "done")], words);
}

function readCase(source: Source): CompoundBody {
  skipBlanks(source);
  const subject = readWord(source);
  if (subject === undefined) source.fail('"case" has no word');
  const words = [subject];
  const bodies: Script[] = [];
  skipLines(source);
  expectWord(source, ["in"]);
  for (;;) {
    skipLines(source);
    if (reservedWordHere(source) === "esac") break;
    words.push(...readPatterns(source));
    bodies.push(source.scripts.list(source, ["esac"]));
    const end = [";;&", ";;", ";&"].find((token) => source.startsWith(token));
    if (end !== undefined) source.take(end);
    else if (reservedWordHere(source) !== "esac") source.fail('a branch of "case" does not end');
  }
  readWord(source);
  return compoundOf("case", bodies, words);
}

function readPatterns(source: Source): Word[] {
  const patterns: Word[] = [];
  if (source.peek() === "(") source.take("(");
  for (;;) {
    skipBlanks(source);
    const pattern = readWord(source);
    if (pattern === undefined) source.fail('a pattern of "case" is missing');
    patterns.push(pattern);
    skipBlanks(source);
    const next = source.peek();
    if (next !== "|" && next !== ")") source.fail('the patterns of "case" do not end');
    source.take(next);
    if (next === ")") return patterns;
  }
}

function readFunction(source: Source): CompoundBody {
  skipBlanks(source);
  if (readWord(source) === undefined) source.fail('"function" has no name');
  skipBlanks(source);
  if (source.peek() === "(") readEmptyParentheses(source);
  return functionBody(source);
}

export function readEmptyParentheses(source: Source): void {
  source.take("(");
  skipBlanks(source);
  if (source.peek() !== ")") source.fail('unexpected "("');
  source.take(")");
}

export function functionBody(source: Source): CompoundBody {
  skipLines(source);
  const start = source.position;
  const command = source.scripts.command(source);
  if (command.type !== "compound") source.fail("the body of a function is not a group of commands", start);
  return compoundOf("function", [{ items: [{ command, operator: "" }] }]);
}

/** The operands and operators between `[[` and `]]`, as words. */
function readConditional(source: Source): Word[] {
  const words: Word[] = [];
  for (;;) {
    skipLines(source);
    const token = ["&&", "||", "(", ")", "<", ">"].find((operator) => source.startsWith(operator));
    if (token !== undefined) {
      if (token !== "(" && token !== ")" && /[(<>&|]/.test(source.ahead(token.length))) {
        source.fail(`unexpected "${source.ahead(token.length)}" between [[ and ]]`);
      }
      source.take(token);
      words.push({ parts: [{ type: "literal", value: token, quoted: false }], text: token });
      continue;
    }
    const word = readWord(source);
    if (word === undefined) source.fail('"[[" is not closed');
    if (word.text === "]]") {
      if (words.length === 0) source.fail('there is nothing between "[[" and "]]"');
      return words;
    }
    if (word.text === "=~") source.fail("it matches a regular expression, which has rules of its own");
    if (source.peek() === "(") source.fail('unexpected "(" between [[ and ]]');
    words.push(word);
  }
}
