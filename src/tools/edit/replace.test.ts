import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.js";
import { ChangeError } from "./change-error.js";
import { applyEdits, type Replacement } from "./replace.js";

function edited(text: string, old: string, fresh: string): string {
  return applyEdits(text, [{ old, new: fresh }]).text;
}

function refusal(text: string, ...edits: Replacement[]): string {
  try {
    const { text: result } = applyEdits(text, edits);
    throw new Error(`not refused: ${JSON.stringify(result)}`);
  } catch (error) {
    if (error instanceof ChangeError) return `${error.message}\n${error.quoted ?? ""}`.trimEnd();
    throw error;
  }
}

describe("[T1] an edit quoted to the letter", () => {
  it("replaces the one place, whatever signs the texts hold", () => {
    expect(edited("a [x] b", "[x]", "$& $1 $$ \\n")).toBe("a $& $1 $$ \\n b");
    expect(edited("price: 1", "1", "")).toBe("price: ");
  });

  it("changes every place with `all`", () => {
    expect(applyEdits("foo bar foo", [{ old: "foo", new: "food", all: true }])).toEqual({
      text: "food bar food",
      count: 2,
      loose: 0,
    });
  });

  it("is preferred to places that are only alike", () => {
    expect(edited("f( 1 )\nf(1)\n", "f(1)", "g(1)")).toBe("f( 1 )\ng(1)\n");
  });

  it("is refused when it occurs more than once, with the lines", () => {
    const message = refusal("x = 1\ny\nx = 1\nx = 1\n", { old: "x = 1", new: "x = 2" });
    expect(message).toContain("occurs 3 times, at lines 1, 3 and 4");
    expect(message).toContain('"all"');
    expect(refusal("aaa", { old: "aa", new: "b" })).toContain("occurs 2 times");
  });

  it("is refused when it was cut short and what follows it would stand there twice", () => {
    const file = "function f() {\n    return a + b;\n}\n";
    expect(refusal(file, { old: "return a", new: "return c + b;" })).toContain('repeats " + b;"');
    expect(refusal(file, { old: "a + b;", new: "return a - b;" })).toContain('repeats "return "');
    expect(refusal(file, { old: "return a + b;\n}", new: "    return c;\n}" })).toContain("indentation");
    expect(refusal(file, { old: "return a + b", new: "return c;" })).toContain('repeats ";"');
    expect(edited(file, "return", "    return")).toContain("\n        return a + b;");
    expect(edited("print(a)", "a", "f(a)")).toBe("print(f(a))");
  });

  it("does not depend on line endings, and keeps them", () => {
    expect(edited("a\rb\rc\r", "b\nc", "B\nX\nC")).toBe("a\rB\rX\rC\r");
    expect(edited("a\nb\nc\n", "a\r\nb", "A\r\nB")).toBe("A\nB\nc\n");
  });
});

describe("[T1] an edit of a quotation that is only alike", () => {
  it("finds its place whatever `,` and `;` end its lines", () => {
    for (const sign of [",", ";"]) {
      expect(edited(`a = b${sign}\nc = d\n`, "a = b\nc  =  d", "a = b\nc = e")).toBe(`a = b${sign}\nc = e\n`);
    }
    expect(refusal("a = b:\nc = d\n", { old: "a = b\nc  =  d", new: "x" })).toContain("does not occur");
  });

  it("is refused within a line if the new text is indented and the quotation is not", () => {
    const file = "x = call(a,  b);\n";
    expect(refusal(file, { old: "(a, b)", new: " (c)" })).toContain("part of a line");
    expect(edited(file, " (a, b)", " (c)")).toBe("x = call(c);\n");
    expect(edited(file, "(a, b)", "(c)")).toBe("x = call(c);\n");
  });
});

describe("[T1] several edits", () => {
  it("are all looked for in the text as it was", () => {
    const edits = [
      { old: "one", new: "two" },
      { old: "two", new: "three" },
    ];
    expect(applyEdits("one two", edits).text).toBe("two three");
  });

  it("are refused together when one of them is", () => {
    const message = refusal("one two", { old: "one", new: "1" }, { old: "four", new: "4" });
    expect(message).toContain("edits[1].old does not occur");
  });

  it("are refused when they overlap", () => {
    const message = refusal("a\nb\nc\n", { old: "a\nb", new: "1" }, { old: "b\nc", new: "2" });
    expect(message).toContain("edits[0].old and edits[1].old overlap at line 2");
  });
});

describe("[T1] an edit that makes no sense", () => {
  it("is refused when both texts are identical, empty, or the file reads so already", () => {
    expect(refusal("same", { old: "same", new: "same" })).toContain("identical");
    expect(refusal("text", { old: "", new: "more" })).toContain("is empty");
    expect(refusal("f(a, b)", { old: "f( a,b )", new: "f(a, b)" })).toContain("already has");
  });

  it("is refused when it leaves text out", () => {
    const file = "line1\nline2\n";
    for (const placeholder of ["// ... rest of the code ...", "# … existing code …", "<!-- ... unchanged -->"]) {
      expect(refusal(file, { old: "line1", new: `line0\n${placeholder}` })).toContain("leaves text out");
    }
    expect(edited(file, "line1", "f(...rest)")).toContain("f(...rest)");
    expect(edited("# ... rest\nx\n", "# ... rest\nx", "# ... rest\ny")).toBe("# ... rest\ny\n");
  });
});

describe("[T1] an edit that is quoted almost right", () => {
  it("finds its place despite space at line ends, inside lines and in blank lines", () => {
    expect(edited("foo  \nbar\t\nbaz\n", "foo\nbar\n", "one\n")).toBe("one\nbaz\n");
    expect(edited("call( a,b )  +1", "call(a, b) + 1", "call(c)")).toBe("call(c)");
    expect(edited("a()\n   \nb()\n", "a()\n\nb()", "a()\n\nc()")).toBe("a()\n   \nc()\n");
  });

  it("does not take two words for one", () => {
    expect(refusal("foo bar(x)", { old: "foobar(x)", new: "y" })).toContain("does not occur");
    expect(refusal("myfoo( x )", { old: "foo(x)", new: "y" })).toContain("does not occur");
  });

  it("keeps lines that it does not change as they are, to the byte", () => {
    const file = "\tone “1”;  \n\ttwo\n\tthree – 3\n";
    expect(edited(file, 'one "1";\ntwo\nthree - 3', 'one "1";\n2\nthree - 3')).toBe("\tone “1”;  \n\t2\n\tthree – 3\n");
  });

  it("gives new lines the indentation of the file", () => {
    const file = "class A {\n    run() {\n        go();\n    }\n}\n";
    const moved = "class A {\n    run() {\n        if (x) {\n            go();\n        }\n    }\n}\n";
    expect(edited(file, "run() {\n    go();\n}", "run() {\n    if (x) {\n        go();\n    }\n}")).toBe(moved);
    expect(edited(file, "  run() {\n      go();", "  run() {\n      stop();")).toBe(file.replace("go", "stop"));
    const tabs = "f() {\n\tif (a) {\n\t\tb();\n\t}\n}\n";
    expect(edited(tabs, "  if (a) {\n    b();\n  }", "  if (a) {\n    b();\n    c();\n  }")).toBe(
      "f() {\n\tif (a) {\n\t\tb();\n\t\tc();\n\t}\n}\n",
    );
  });

  it("leaves new lines alone that are indented like the file already", () => {
    const file = "    if (a) {\n        b();\n    }\n";
    const fresh = "    if (a) {\n        c();\n    }";
    expect(edited(file, "if (a) {\n    b();\n}", fresh)).toBe(`${fresh}\n`);
  });

  it("is refused when the indentation of new lines cannot be known", () => {
    const file = "def f():\n    if a:\n        b()\n    c()\n";
    const message = refusal(file, { old: "if a:\nb()\nc()", new: "if a:\nb()\nd()\ne()\nc()" });
    expect(message).toContain("close at line 2");
    expect(message).toContain("2\t    if a:\n3\t        b()");
  });

  it("does not mind the kind of quotes, dashes, spaces and letters", () => {
    expect(edited("say(‘hi’) — now", "say('hi') - now", "say('ho')")).toBe("say('ho')");
    expect(edited("ＡＢＣ，def\n", "ABC,def", "x")).toBe("x\n");
    expect(edited("caf\u0065\u0301 au\u00a0lait", "café au lait", "tea")).toBe("tea");
    expect(edited("a\u200bbc = 1", "abc = 1", "abc = 2")).toBe("abc = 2");
  });

  it("takes other quotes only when the new text does not use them", () => {
    const file = 'log("hello");\nrun();\n';
    expect(edited(file, "log('hello');\nrun();", 'log("bye");\nrun();')).toBe('log("bye");\nrun();\n');
    expect(refusal(file, { old: "log('hello');\nrun();", new: "log('bye');\nrun();" })).toContain("other quotes");
  });

  it("understands text that was escaped twice, in both texts", () => {
    const file = 'print("a");\nprint("b\\n");\n';
    expect(edited(file, 'print(\\"a\\");', 'print(\\"c\\");')).toBe('print("c");\nprint("b\\n");\n');
    expect(edited(file, 'print(\\"a\\");\\nprint(\\"b\\\\n\\");', 'print(\\"a\\");\\nprint(\\"c\\\\n\\");')).toBe(
      'print("a");\nprint("c\\n");\n',
    );
    // Only the quotes were escaped; what is a sequence in the file stays one.
    expect(edited('say("a\\n");\n', 'say(\\"a\\n\\");', 'say(\\"b\\n\\");')).toBe('say("b\\n");\n');
    expect(edited("p = 'C:\\dir'", "p = 'C:\\\\dir'", "p = 'C:\\home'")).toBe("p = 'C:\\home'");
    expect(refusal(file, { old: 'print(\\"a\\");', new: 'say(\\"\\t\\");' })).toContain("close at line 1");
  });

  it("is refused when backslashes were lost", () => {
    expect(refusal("if (/\\d+/.test(x)) y()", { old: "if (/d+/.test(x))", new: "if (/w+/.test(x))" })).toContain(
      "backslashes",
    );
  });

  it("forgives missing punctuation at a line's end when the new text has it", () => {
    const file = "  a: 1,\n  b: 2,\n";
    expect(edited(file, "a: 1\nb: 2,", "a: 3,\nb: 2,")).toBe("  a: 3,\n  b: 2,\n");
    expect(refusal(file, { old: "a: 1\nb: 2,", new: "a: 3\nb: 2," })).toContain("punctuation");
    expect(edited("x( 1 );\n", "x(1)", "x(2);")).toBe("x(2);\n");
  });

  it("forgives line numbers of the read tool", () => {
    const file = "  a();\n  b();\n  c();\n";
    expect(edited(file, "2\t  b();\n3\t  c();", "  b();\n  d();")).toBe("  a();\n  b();\n  d();\n");
    expect(edited(file, "2\t  b();\n3\t  c();", "2\t  b();\n3\t  d();")).toBe("  a();\n  b();\n  d();\n");
  });

  it("forgives a blank line or a missing newline at either end", () => {
    expect(edited("  a();\n  b();\n", "\na();\nb();\n", "a();\nc();\n")).toBe("  a();\n  c();\n");
    expect(edited("one();\ntwo();", "two( );\n", "six();\n")).toBe("one();\nsix();");
    expect(edited("one( );\ntwo();\n", "one();\n", "")).toBe("two();\n");
  });

  it("is refused when it begins or ends within a line and would leave the rest behind", () => {
    const file = "one();\nlet x = call( a,  b );\n";
    expect(edited(file, "call(a, b)", "call(c)")).toBe("one();\nlet x = call(c);\n");
    expect(refusal(file, { old: "one( );\nlet x", new: "two();\nlet y" })).toContain("middle of a line");
    expect(refusal(file, { old: "call(a, b", new: "call(c)" })).toContain("part of a line");
  });

  it("does not join lines by accident", () => {
    expect(refusal("one( );\ntwo();\n", { old: "one();\n", new: "six();" })).toContain("line break");
  });

  it("is refused when two places are alike", () => {
    const message = refusal("if (a) {\n  b( );\n}\nif (a) {\n  b() ;\n}\n", { old: "if (a) {\n  b();", new: "c" });
    expect(message).toContain("2 places are similar: lines 1 and 4");
  });

  it("is refused when too little of it is left to go by", () => {
    expect(refusal("}  \n", { old: "\t}\n}", new: "x" })).toContain("does not occur");
  });

  it("is refused when it fits only because a line was left out", () => {
    const file = "{\n    one();\n    },\n},\n";
    expect(refusal(file, { old: "    one();\n},", new: "    two();\n}," })).toContain("close at line 2");
    expect(refusal("p(`x`)\np(\"x\")\np('x')\n}\n", { old: 'p(`x`)\np("x")\n}', new: "q" })).toContain("elsewhere");
  });

  it("changes every similar place with `all`", () => {
    const file = "  f( 1 );\n  x();\n\tf(1) ;\n";
    expect(applyEdits(file, [{ old: "f(1);", new: "g(1);", all: true }])).toEqual({
      text: "  g(1);\n  x();\n\tg(1);\n",
      count: 2,
      loose: 2,
    });
  });

  it("says that it was not exact", () => {
    expect(applyEdits("f( 1 )", [{ old: "f(1)", new: "g" }])).toEqual({ text: "g", count: 1, loose: 1 });
  });
});

describe("[T1] a quotation that is not in the file", () => {
  const file = Array.from({ length: 60 }, (_, i) => `const value${i} = compute(${i}, "item ${i}");`).join("\n");

  it("is answered with the nearest places and their lines", () => {
    const message = refusal(file, { old: 'const value41 = calculate(41, "item 41");', new: "x" });
    expect(message).toContain('42\tconst value41 = compute(41, "item 41");');
  });

  it("is answered shortly, however long the file and its lines", () => {
    const lines = `${"word ".repeat(5000)}\n`.repeat(500);
    const message = refusal(lines, { old: "word words wording".repeat(100), new: "x" });
    expect(message.length).toBeLessThan(6000);
  });

  it("reports when nothing resembles it, and when the new text is already there", () => {
    expect(refusal("alpha beta", { old: "gamma", new: "delta" })).toContain(
      "Nothing in the file resembles the text to replace",
    );
    expect(refusal("a\nnew text\n", { old: "old text here", new: "new text" })).toContain("already there, at line 2");
  });

  it("is never replaced by something with the same first and last line", () => {
    const code = "function f() {\n  keep()\n  removeAll()\n}\n";
    expect(refusal(code, { old: "function f() {\n  x = 1\n}", new: "function f() {\n}" })).toContain("nearest");
  });

  it("costs little in large or repetitive files", () => {
    const took = processorMs(() => {
      refusal("a".repeat(2_000_000), { old: `${"a".repeat(20_000)}c`, new: "x" });
      refusal("x \n".repeat(300_000), { old: "x y\n".repeat(500), new: "z" });
      refusal("foo( a )\n".repeat(100_000), { old: "foo(a)", new: "z" });
    });
    expect(took).toBeLessThan(5000);
  });
});
