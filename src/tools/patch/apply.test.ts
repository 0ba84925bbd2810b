import { describe, expect, it } from "vitest";
import { Random } from "../../../test/support/generated-edits.js";
import { ChangeError } from "../edit/change-error.js";
import { applyHunks } from "./apply.js";
import { parsePatch } from "./parse.js";

function applied(text: string, body: string): string {
  const [change] = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`);
  return applyHunks(text, change?.kind === "update" ? change.hunks : []);
}

function problem(text: string, body: string): string {
  try {
    const result = applied(text, body);
    throw new Error(`not refused: ${JSON.stringify(result)}`);
  } catch (error) {
    if (error instanceof ChangeError) return `${error.message}\n${error.quoted ?? ""}`.trimEnd();
    throw error;
  }
}

describe("[T1] hunks", () => {
  it("are placed by their lines", () => {
    expect(applied("a\nb\nc\nd\n", "@@\n a\n-b\n+B\n@@\n c\n-d\n+D\n+E")).toBe("a\nB\nc\nD\nE\n");
  });

  it("follow the lines that @@ names, also partly or one within the other", () => {
    const file = "class A:\n  def f():\n    x = 1\nclass B:\n  def f():\n    x = 1\n  def g(a, b):\n    x = 1\n";
    expect(applied(file, "@@ class B:\n@@ def f():\n-    x = 1\n+    x = 2")).toBe(
      file.replace("B:\n  def f():\n    x = 1", "B:\n  def f():\n    x = 2"),
    );
    expect(applied(file, "@@ def g\n-    x = 1\n+    x = 2")).toContain("g(a, b):\n    x = 2\n");
    expect(problem(file, "@@ class C:\n-    x = 1\n+    x = 2")).toContain(
      `no line reads "class C:", which '@@' names. The nearest lines are:`,
    );
    expect(problem("x = 1\n", "@@ class C:\n-x = 1\n+x = 2")).toMatch(/which '@@' names\.$/);
  });

  it("are refused when they fit in more than one way", () => {
    const message = problem("x\ny\nx\nz\nx\n", "@@\n-x\n+X");
    expect(message).toContain("line 3 of the patch");
    expect(message).toContain("occur 3 times, at lines 1, 3 and 5");
  });

  it("settle each other by their order", () => {
    expect(applied("x\ny\nx\n", "@@\n-x\n+1\n@@\n-x\n+2")).toBe("1\ny\n2\n");
    expect(applied("x\ny\nx\nz\n", "@@\n-y\n+Y\n@@\n-x\n+2")).toBe("x\nY\n2\nz\n");
    expect(problem("x\ny\nx\nx\n", "@@\n-x\n+1\n@@\n-x\n+2")).toContain("occur 3 times");
  });

  it("may come in another order when each fits one place, and share kept lines", () => {
    expect(applied("a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A")).toBe("A\nb\nC\n");
    expect(applied("a\nb\nc\n", "@@\n-a\n+A\n b\n@@\n b\n-c\n+C")).toBe("A\nb\nC\n");
    expect(problem("a\nb\n", "@@\n-a\n+1\n@@\n-a\n b\n+c")).toContain("changes too");
  });

  it("are held to the end of the file when they say so", () => {
    expect(applied("x\ny\nx\n", "@@\n-x\n+z\n*** End of File")).toBe("x\ny\nz\n");
    expect(problem("x\ny\n", "@@\n-x\n+z\n*** End of File")).toContain("at the end of the file");
  });

  it("that only add lines go to the end, but not when @@ leaves that open", () => {
    expect(applied("a\n", "@@\n+b\n+c")).toBe("a\nb\nc\n");
    expect(applied("", "@@\n+b")).toBe("b\n");
    expect(applied("a\nb\n", "@@\n+z\n@@\n-a\n+A")).toBe("A\nb\nz\n");
    expect(problem("a\nb\n", "@@ a\n+x")).toContain("only adds lines");
  });

  it("keep line endings, and end the file with one", () => {
    expect(applied("one\rtwo\rthree\r", "@@\n two\n+new\n three")).toBe("one\rtwo\rnew\rthree\r");
    expect(applied("one\ntwo", "@@\n-one\n+ONE")).toBe("ONE\ntwo\n");
    expect(applied("a\nb\rc\n", "@@\n a\n b\n-c\n+C")).toBe("a\nb\rC\n");
  });

  it("ignore blank lines at their end that the file does not have", () => {
    expect(applied("foo\nbar\n", "@@\n-foo\n+FOO\n bar\n")).toBe("FOO\nbar\n");
  });

  it("forgive space, quotes and indentation as edits do, and keep kept lines", () => {
    expect(applied("  “one”  \n  two\n", '@@\n "one"\n-two\n+three')).toBe("  “one”  \n  three\n");
    expect(applied("say “hello”\nend\n", '@@\n-say "hello"\n+say "hi"')).toBe('say "hi"\nend\n');
    const message = problem("    foo\n  bar\n", "@@\n-foo\n-bar\n+new");
    expect(message).toContain("close to line 1");
    expect(message).toContain("1\t    foo");
  });

  it("are refused with what they expected and what is there", () => {
    const message = problem("alpha beta gamma\nnext\n", "@@\n-alpha beta delta\n+x");
    expect(message).toContain("does not have these lines:\n  alpha beta delta\n");
    expect(message).toContain("1\talpha beta gamma");
  });

  it("made from any change of any file give that change or are refused", () => {
    const counts = { right: 0, refused: 0 };
    for (let seed = 1; seed <= 5000; seed++) {
      const { file, truth, body } = generatePatch(seed);
      try {
        expect(applied(file, body), `seed ${seed}`).toBe(truth);
        counts.right++;
      } catch (error) {
        if (!(error instanceof ChangeError)) throw error;
        counts.refused++;
      }
    }
    expect(counts.right).toBeGreaterThan(2500);
  });
});

/** A file of few different lines, changed in one to three places, and a patch with little context, sometimes misquoted. */
function generatePatch(seed: number): { file: string; truth: string; body: string } {
  const random = new Random(seed);
  const word = () => random.pick(["alpha", "beta", "gamma", "delta", "omega", "return x", "} else {", "call(1)"]);
  const lines = Array.from({ length: random.between(4, 30) }, (_, i) =>
    random.chance(0.15) ? "" : `${"  ".repeat(random.below(3))}${word()}${random.chance(0.5) ? ` ${i}` : ""}`,
  );
  const misquote = random.pick<(line: string) => string>([
    (line) => line,
    (line) => line,
    (line) => line.trimEnd(),
    (line) => `${line} `,
    (line) => line.replace("(1)", "( 1 )"),
  ]);
  const truth: string[] = [];
  const body: string[] = [];
  let at = 0;
  for (let i = random.between(1, 3); i > 0 && at < lines.length; i--) {
    const context = random.between(0, 3);
    const from = Math.min(lines.length - 1, at + random.below(6));
    const to = Math.min(lines.length, from + random.between(1, 2));
    const lead = lines.slice(Math.max(at, from - context), from);
    const tail = lines.slice(to, to + context);
    const fresh = Array.from({ length: random.below(3) }, () => `new ${word()}`);
    truth.push(...lines.slice(at, from), ...fresh);
    body.push(
      "@@",
      ...lead.map((line) => ` ${misquote(line)}`),
      ...lines.slice(from, to).map((line) => `-${misquote(line)}`),
    );
    body.push(...fresh.map((line) => `+${line}`), ...tail.map((line) => ` ${misquote(line)}`));
    at = to;
  }
  truth.push(...lines.slice(at));
  return {
    file: `${lines.join("\n")}\n`,
    truth: truth.length === 0 ? "" : `${truth.join("\n")}\n`,
    body: body.join("\n"),
  };
}
