/** Reads conditions: `"word"`, `last-tool-result contains "hello"`, `body.options.num_ctx at-least 8192`. */
import { jsonOrText, type LineCursor, list } from "./line-cursor.js";
import { type Condition, SUBJECTS, type Test } from "./script.js";

const TESTS = ["contains", "is", "matches", "exists", "at-least", "at-most"];

export function parseConditions(cursor: LineCursor): readonly Condition[] {
  const conditions = [parseCondition(cursor)];
  while (cursor.take(/and(?=\s)/) !== undefined) conditions.push(parseCondition(cursor));
  return conditions;
}

function parseCondition(cursor: LineCursor): Condition {
  const { line } = cursor;
  const shorthand = cursor.quoted();
  if (shorthand !== undefined) return { subject: "last-user", test: { contains: shorthand }, line };
  const subject = parseSubject(cursor);
  const negated = cursor.take(/not(?=\s)/) !== undefined;
  return { subject, ...(negated && { not: true as const }), test: parseTest(cursor), line };
}

function parseSubject(cursor: LineCursor): string {
  const word = cursor.take(/[\w.-]+/);
  if (word === "header") {
    const name = cursor.take(/[\w-]+/) ?? cursor.fail(`expected the header's name, found ${cursor.found}`);
    return `header ${name.toLowerCase()}`;
  }
  const known = word !== undefined && (SUBJECTS.some((subject) => subject === word) || /^body(\.[\w-]+)+$/.test(word));
  if (known) return word;
  const choices = list(["a quoted word", ...SUBJECTS, "body.PATH", "header NAME"]);
  return cursor.fail(`expected ${choices}, found ${word === undefined ? cursor.found : `"${word}"`}`);
}

function parseTest(cursor: LineCursor): Test {
  const name = cursor.take(/[a-z-]+/);
  switch (name) {
    case "contains":
      return { contains: textValue(cursor, name) };
    case "is": {
      const quoted = cursor.quoted();
      if (quoted !== undefined) return { is: quoted };
      return { is: jsonOrText(cursor.json() ?? cursor.word() ?? expected(cursor, "a value", name)) };
    }
    case "matches":
      return { matches: pattern(cursor) };
    case "exists":
      return { exists: true };
    case "at-least":
      return { atLeast: numberValue(cursor, name) };
    case "at-most":
      return { atMost: numberValue(cursor, name) };
    default:
      return cursor.fail(
        `expected ${list(TESTS)} (or "not" before it), found ${name === undefined ? cursor.found : `"${name}"`}`,
      );
  }
}

function textValue(cursor: LineCursor, after: string): string {
  return cursor.quoted() ?? cursor.word() ?? expected(cursor, "a text", after);
}

function numberValue(cursor: LineCursor, after: string): number {
  return Number(cursor.take(/-?\d+(\.\d+)?/) ?? expected(cursor, "a number", after));
}

function pattern(cursor: LineCursor): RegExp {
  const literal = cursor.take(/\/(?:[^/\\]|\\.)+\/[a-z]*/) ?? expected(cursor, "a pattern such as /hello/i", "matches");
  const slash = literal.lastIndexOf("/");
  try {
    return new RegExp(literal.slice(1, slash), literal.slice(slash + 1));
  } catch (error) {
    return cursor.fail((error as Error).message);
  }
}

function expected(cursor: LineCursor, what: string, after: string): never {
  return cursor.fail(`expected ${what} after "${after}", found ${cursor.found}`);
}
