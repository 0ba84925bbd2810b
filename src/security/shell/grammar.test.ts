import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { parseShell } from "./grammar.js";
import { simpleCommands } from "./walk.js";
import { fixedValue } from "./word-values.js";

/** Every command as its words, `?` for what is not known beforehand. */
function commands(text: string): string[][] | string {
  const parsed = parseShell(text);
  if (!parsed.ok) return parsed.reason;
  return simpleCommands(parsed.script).map(({ command }) => command.words.map((word) => fixedValue(word) ?? "?"));
}

describe("parseShell finds every command", () => {
  it.each<[string, string[][]]>([
    ["a 1|b 2 |& c", [["a", "1"], ["b", "2"], ["c"]]],
    ["a&&b||c;d&e\nf", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]],
    ["(a; (b)) && { c; }", [["a"], ["b"], ["c"]]],
    ['a "$(b "$(c)")" `d`', [["a", "?", "?"], ["b", "?"], ["c"], ["d"]]],
    ["a <(b) >(c) < <(d)", [["a", "?", "?"], ["b"], ["c"], ["d"]]],
    ["if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    ["while a; do b; done; until c; do d; done", [["a"], ["b"], ["c"], ["d"]]],
    ["for x in $(a) 2; do b; done", [["a"], ["b"]]],
    ["case $(a) in x|y) b;; *) c ;; esac", [["a"], ["b"], ["c"]]],
    ["f() { a; }; function g { b; }; h() ( c )", [["a"], ["b"], ["c"]]],
    ["! time -p a", [["a"]]],
    ["coproc a b", [["a", "b"]]],
    ["x=$(a) y=1 b", [["b"], ["a"]]],
    ["x=($(a) 2) b", [["b"], ["a"]]],
    ["a $" + "{x:-$(b)} $((1 + $(c)))", [["a", "?", "?"], ["b"], ["c"]]],
    ["[[ -n $(a) ]] && b", [["a"], ["b"]]],
    ["a > $(b) 2>&1", [["a"], ["b"]]],
    ["a <<< $(b)", [["a"], ["b"]]],
    ["a <<E; b\n$(c) `d`\nE\ne", [["a"], ["c"], ["d"], ["b"], ["e"]]],
    ["a <<'E'\n$(no)\nE\nb", [["a"], ["b"]]],
    ["a <<-E | b\n\t$(c)\n\tE\nd", [["a"], ["c"], ["b"], ["d"]]],
    ["a <<X <<Y\n1\nX\n$(b)\nY\nc", [["a"], ["b"], ["c"]]],
    ["a # $(no)\nb", [["a"], ["b"]]],
    ["a \\\n b", [["a", "b"]]],
  ])("%j", (text, expected) => {
    expect(commands(text)).toEqual(expected);
  });
});

describe("parseShell reads words as bash does", () => {
  it.each<[string, string[]]>([
    ["a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]],
    ["a b'c'\"d\"\\e''", ["a", "bcde"]],
    ['a "x\\"y\\$z\\n"', ["a", 'x"y$z\\n']],
    ["a $'\\x41\\t\\101\\u0042'", ["a", "A\tAB"]],
    ["a b#c '#' \\#", ["a", "b#c", "#", "#"]],
    ["a {b {} @{1} x{y}z", ["a", "{b", "{}", "@{1}", "x{y}z"]],
    ["a {b,c} {1..3} '{d,e}'", ["a", "?", "?", "{d,e}"]],
    ["a *.ts '*' \\* [x] ?", ["a", "?", "*", "*", "?", "?"]],
    ["a ~ b~ '~'", ["a", "?", "b~", "~"]],
    ["a $ a$ '$x' \"$\"", ["a", "$", "a$", "$x", "$"]],
    ["a\tb  \\\n  c", ["a", "b", "c"]],
    ["'l'\\\ns b\\\nc", ["ls", "bc"]],
  ])("%j", (text, expected) => {
    expect(commands(text)).toEqual([expected]);
  });
});

describe("parseShell refuses text that it does not fully understand", () => {
  it.each([
    ["a |", "missing"],
    ["a && && b", "unexpected"],
    ["a ; ; b", "unexpected"],
    ["a ;; b", "unexpected"],
    ["| a", "unexpected"],
    ["(a", "not closed"],
    ["a)", "unexpected"],
    ["{ a", "missing"],
    ["{ a; } }", "unexpected"],
    ["if a; fi", "unexpected"],
    ["for x in a; b; done", "missing"],
    ["a 'b", "not closed"],
    ['a "b', "not closed"],
    ["a `b", "not closed"],
    ["a `b \\`c\\``", "backslash"],
    ["a $(b", "not closed"],
    ["a <<E\nb", "does not end"],
    ["a <<E", "no body"],
    ["a <<E\nb\\\nE\n", "backslash"],
    ["a <<E $(b\nE\nc)", "here-document"],
    ['a <<E "x\ny"\nE\n', "here-document"],
    ["a @(b|c)", "unexpected"],
    ["a *(e:b:)", "unexpected"],
    ["a =(b)", "unexpected"],
    ['a $"b"', "locale"],
    ["a $[1+1]", "old form"],
    ["a $'b\\'c'", "differently"],
    ["a $'\\0'", "differently"],
    ["a $\\\n(b)", "continued"],
    ["a &\\\n& b", "continued"],
    ["i\\\nf a; then b; fi", "continued"],
    ["PA\\\nTH=x a", "continued"],
    ["a $((b[1]))", "arithmetic"],
    ["a $((b); c)", "arithmetic"],
    ["((a); b)", "arithmetic"],
    ["x[1]=2", "element"],
    ["[[ a =~ b ]]", "regular expression"],
    ["time -v a", "options"],
    ["a > ", "nothing after"],
    ["a \\", "backslash"],
  ])("%j", (text, reason) => {
    expect(commands(text)).toContain(reason);
  });

  it("says where", () => {
    expect(parseShell("ls; ) x")).toMatchObject({ ok: false, at: 4 });
  });

  it("stays on its feet in deep and long texts", () => {
    for (const piece of ["(", "$(", '"$(', "{ ", "if ", "cat <<E\n$(", "a\\\n$(", "case a in a) ", "f(){ "]) {
      expect(parseShell(piece.repeat(5000)).ok).toBe(false);
    }
    expect(parseShell("`".repeat(5001)).ok).toBe(false);
    expect(parseShell("a".repeat(300_000)).ok).toBe(false);
  });

  it("never throws", () => {
    const pieces = fc.constantFrom(
      ..."a ' \" \\ ` $ ( ) { } [ ] < > | & ; # ~ * ? ! = \n if fi do done <<E E $( ${ (( )) [[ ]] case in esac".split(
        / /,
      ),
      " ",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces, { maxLength: 30 }).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(texts, (text) => typeof parseShell(text).ok === "boolean"),
      { numRuns: times(600, 3000), seed: 7 },
    );
  });
});
