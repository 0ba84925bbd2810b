/**
 * Random commands and paths against a reference that knows what is in them because it put them together. A sample of them;
 * 10,000 of each with OXBOW_TEST_THOROUGH=1.
 */

import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.js";
import { isThorough, times } from "../../../test/support/thorough.js";
import { decide } from "./decide.js";
import { readCommand } from "./read-command.js";
import { bash, HOME, onPath, pathsOf, policyWith, READER, rulesOf, WORKSPACE } from "./test-support/sample-policy.js";

interface Piece {
  readonly text: string;
  /** The best decision that is possible: 0 allow, 1 ask, 2 deny. */
  readonly floor: 0 | 1 | 2;
}

const RULES = rulesOf(
  { tool: "bash", command: "npm test *", decision: "allow" },
  { tool: "bash", command: "git commit *", decision: "allow" },
  { tool: "bash", command: "rm *", decision: "deny" },
);

const atoms = fc.constantFrom<Piece>(
  ...["ls -la", "cat a.txt", "grep -n x a.txt", "pwd", "head -3 a.txt", "npm test", "git commit -m x"].map(
    (text) => ({ text, floor: 0 }) as const,
  ),
  ...["curl example.org", "make", "touch a", "git push", "cat /etc/passwd", "cat .env", "./run.sh", "npm testx"].map(
    (text) => ({ text, floor: 1 }) as const,
  ),
  ...[
    "python -c 1",
    "sed -i s/a/b/ x",
    "find . -delete",
    "git -c a=b commit",
    "tee x",
    "PATH=. ls",
    "$X",
    "ls `make`",
  ].map((text) => ({ text, floor: 1 }) as const),
  ...[
    "rm a",
    "/bin/rm -rf a",
    "'rm' a",
    "r\\m a",
    "secret-tool search a b",
    "keyctl show",
    "cat ~/.config/oxbow/a",
  ].map((text) => ({ text, floor: 2 }) as const),
);

const worst = (...pieces: readonly Piece[]) => Math.max(...pieces.map(({ floor }) => floor)) as Piece["floor"];
const raise = (piece: Piece, floor: Piece["floor"]) => Math.max(piece.floor, floor) as Piece["floor"];

/** Ways to put a command into something bigger that do not make it any more harmless. */
const around: readonly ((piece: Piece) => Piece)[] = [
  ({ text, floor }) => ({ text: `( ${text} )`, floor }),
  ({ text, floor }) => ({ text: `{ ${text}; }`, floor }),
  ({ text, floor }) => ({ text: `${text} # rest`, floor }),
  (piece) => ({ text: `${piece.text} > out.txt`, floor: raise(piece, 1) }),
  (piece) => ({ text: `echo "$( ${piece.text} )"`, floor: raise(piece, 0) }),
  (piece) => ({ text: `for i in 1; do ${piece.text}; done`, floor: raise(piece, 1) }),
  (piece) => ({ text: `if true; then ${piece.text}; fi`, floor: raise(piece, 1) }),
  (piece) => ({ text: `f() { ${piece.text}; }; f`, floor: raise(piece, 1) }),
  (piece) => ({ text: `while ${piece.text}; do :; done`, floor: raise(piece, 1) }),
];

const joints = fc.constantFrom(" && ", " || ", "; ", " | ", "\n", " & ", " |& ");

const { command } = fc.letrec<{ command: Piece }>((tie) => ({
  command: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    atoms,
    fc.tuple(tie("command"), joints, tie("command")).map(([one, joint, other]) => ({
      // A comment would hide what follows it.
      text: one.text.includes("#") ? `${one.text}\n${other.text}` : `${one.text}${joint}${other.text}`,
      floor: worst(one, other),
    })),
    fc
      .tuple(tie("command"), fc.constantFrom(...around))
      .map(([piece, wrap]) => (piece.text.includes("#") ? piece : wrap(piece))),
  ),
}));

const SEED = 20_260_101;
const RUNS = times(400, 10_000);
/** No user waits for an answer here: a busy machine may take its time. */
const PATIENCE_MS = isThorough ? 600_000 : 120_000;
const RANK = { allow: 0, ask: 1, deny: 2 } as const;

describe("random commands", () => {
  it(
    "are never decided more mildly than the worst thing in them",
    () => {
      const seen = { allow: 0, ask: 0, deny: 0 };
      const check = fc.property(command, fc.constantFrom("ask", "allow"), ({ text, floor }, mode) => {
        const verdict = decide(bash(text), policyWith({ rules: RULES, mode }));
        seen[verdict.decision] += 1;
        // In mode allow what nothing forbids is allowed; what is forbidden stays so, or is asked about.
        const least = mode === "ask" ? floor : floor === 2 ? 1 : 0;
        if (RANK[verdict.decision] < least) throw new Error(`${text}: ${verdict.decision} by ${verdict.decidedBy}`);
      });
      fc.assert(check, { seed: SEED, numRuns: RUNS });
      // All three are really reached.
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 20);
    },
    PATIENCE_MS,
  );

  it(
    "are denied if they contain forbidden text in plain words",
    () => {
      const check = fc.property(command, ({ text, floor }) => {
        fc.pre(floor === 2);
        return decide(bash(text), policyWith({ rules: RULES, mode: "allow" })).decision === "deny";
      });
      fc.assert(check, { seed: SEED, numRuns: RUNS / 5 });
    },
    PATIENCE_MS,
  );
});

describe("random texts", () => {
  it(
    "do not break anything, and none is allowed that the judge does not call read-only",
    () => {
      const scraps = [
        "ls",
        "rm",
        "cat a",
        " ",
        ";",
        "|",
        "&",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "<<E\n",
        "\n",
        "{",
        "}",
        "\\",
        "$X",
        ">",
        "é",
        "\u202e",
        "\0",
        "[[",
        "((",
        "#",
        "=",
        "~",
        "*",
      ];
      const texts = fc.oneof(
        fc.array(fc.constantFrom(...scraps), { maxLength: 25 }).map((list) => list.join("")),
        fc.string(),
      );
      const check = fc.property(texts, (text) => {
        const facts = bash(text);
        const { decision } = decide(facts, policyWith());
        return decision !== "allow" || facts.command?.verdict === "read-only";
      });
      fc.assert(check, { seed: SEED, numRuns: RUNS });
    },
    PATIENCE_MS,
  );
});

describe("random paths", () => {
  const entries = { src: "rw--", "src/gen": "r---", "src/gen/keep": "rwxd", docs: "----", "/etc": "r---" } as const;
  const names = fc.constantFrom(
    "src",
    "gen",
    "keep",
    "docs",
    "..",
    ".",
    "a.ts",
    ".git",
    "hooks",
    "etc",
    ".config",
    "oxbow",
    "",
  );
  const paths = fc.tuple(
    fc.constantFrom("", "/", `${HOME}/`, `${WORKSPACE}/`),
    fc.array(names, { minLength: 1, maxLength: 6 }),
  );

  /** Walks up to the first folder with an entry. */
  function granted(path: string): string | undefined {
    for (let at = path; ; at = posix.dirname(at)) {
      for (const [prefix, access] of Object.entries(entries))
        if (posix.resolve(WORKSPACE, prefix) === at) return access;
      if (at === "/") return undefined;
    }
  }

  it(
    "are allowed only inside the workspace, where granted, and outside guarded paths",
    () => {
      let allowed = 0;
      const check = fc.property(paths, fc.constantFrom("read", "write"), ([start, parts], tool) => {
        const path = start + parts.join("/");
        const full = posix.resolve(WORKSPACE, path);
        const facts = onPath(tool, path, { sandboxed: true });
        const { decision } = decide(facts, policyWith({ paths: pathsOf(entries) }));
        const letter = tool === "read" ? "r" : "w";
        const inside = full === WORKSPACE || full.startsWith(`${WORKSPACE}/`);
        const guarded = tool === "write" && /\/\.git(\/|$)/.test(full);
        const own = /^\/home\/ada\/\.config\/oxbow(\/|$)/.test(full);
        const must = own || granted(full)?.includes(letter) === false ? "deny" : !inside || guarded ? "ask" : "allow";
        if (decision !== must) throw new Error(`${full}: ${decision} instead of ${must}`);
        if (decision === "allow") allowed += 1;
      });
      fc.assert(check, { seed: SEED, numRuns: RUNS });
      expect(allowed).toBeGreaterThan(RUNS / 20);
    },
    PATIENCE_MS,
  );
});

describe("time", () => {
  it("of a decision with 200 rules and of reading an ordinary command is small", () => {
    const rules = rulesOf(
      ...Array.from({ length: 200 }, (_, index) => ({
        tool: "bash",
        command: `tool${index} * --x`,
        decision: index % 2 === 0 ? "deny" : "allow",
      })),
    );
    const policy = policyWith({ rules, paths: pathsOf({ docs: "r", src: "rw" }) });
    const text = "cd src && npm test -- --watch | tee out.txt && git add a b c && git commit -m 'a message'";
    const facts = bash(text);
    const cost = (run: () => unknown) =>
      processorMs(() => {
        for (let round = 0; round < 500; round++) run();
      });
    expect(cost(() => decide(facts, policy))).toBeLessThan(2_000);
    expect(cost(() => readCommand(text, READER))).toBeLessThan(2_000);
  });
});
