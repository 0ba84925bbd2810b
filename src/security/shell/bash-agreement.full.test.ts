/**
 * Generated texts are given to the parser and to bash itself, where no program can be found and every attempt to run one is
 * written down. Whatever bash tries to run must have been found by the parser, with the same words.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { unless } from "../../../test/support/needs.js";
import { verifies } from "../../../test/verifies.js";
import { parseShell } from "./grammar.js";
import { simpleCommands } from "./walk.js";
import { fixedValue } from "./word-values.js";

const CASES = 250;
const WORDS = [
  ..."a b -x \\n = : ! % @ 1 2 / , .. [ ] { } $ * ~ {a,b} #h $x ${x} ${x:-y} $((1+2)) `k` $(s) <(p) '' \"\" \\\\".split(
    " ",
  ),
  ...[
    "'q r'",
    '"d q"',
    "\\ ",
    "\\\n",
    '"$x"',
    '"$(t u)"',
    "${x:-$(v)}",
    "$'\\x41\\n'",
    '"a\\"b"',
    '"\\$b"',
    "'\\'",
    "'a\nb'",
  ],
];
const TAILS = [
  ...[" >/dev/null", " 2>&1", " </dev/null", " <<< h", ' <<< "$(h)"', " &>/dev/null", " # c $(no)\n", "", "", "", ""],
  ...[" <<E\nb $(y) `z`\nE\n", " <<'E'\n$(no)\nE\n", " <<-E\n\tb\n\tE\n", ' <<E | w\n"b\nE\n'],
];
const JOINS = [" ; ", " && ", " || ", " | ", "\n", ";", "|", "&&", " |& ", "\n\n", "  \\\n ; ", " &&\n"];
const JUNK = [
  "'",
  '"',
  "(",
  ")",
  "`",
  "\\",
  "\n",
  ";",
  "&&",
  "|",
  "<",
  ">",
  "$(",
  "}",
  "{",
  "#",
  " ",
  "$",
  "then",
  "fi",
  "!",
  "\\\n",
];

class Generator {
  #state = 20_240_607;

  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)] as T;
  }

  times(most: number, make: () => string): string {
    return Array.from({ length: Math.floor(this.random() * (most + 1)) }, make).join("");
  }

  simple(): string {
    const name = this.pick(["ca", "cb", "cc", '"ca"', "c\\b", "c''c", "v=1 cd", "v=$(cv) ce", "! cf", "time cg"]);
    return (
      name + this.times(2, () => ` ${this.pick(WORDS)}${this.times(2, () => this.pick(WORDS))}`) + this.pick(TAILS)
    );
  }

  compound(depth: number): string {
    const list = () => this.list(depth - 1);
    return this.pick([
      () => `(${list()}\n)`,
      () => `{ ${list()}\n}`,
      () => `if ${list()}\nthen ${list()}\nelse ${list()}\nfi`,
      () => `for i in a ${this.pick(WORDS)}; do ${list()}\ndone`,
      () => `case ${this.pick(WORDS)} in a|b) ${list()}\n;; *) ${list()}\n;; esac`,
      () => `cf() { ${list()}\n}; cf`,
      () => `[[ a == ${this.pick(WORDS)} ]]`,
    ])();
  }

  list(depth: number): string {
    const command = () => (depth > 0 && this.random() < 0.25 ? this.compound(depth) : this.simple());
    return command() + this.times(2, () => this.pick(JOINS) + command());
  }

  text(): string {
    let text = this.list(2);
    for (let changes = this.random() < 0.5 ? 0 : 2; changes > 0; changes--) {
      const at = Math.floor(this.random() * text.length);
      text =
        text.slice(0, at) +
        (this.random() < 0.6 ? this.pick(JUNK) : "") +
        text.slice(at + Math.floor(this.random() * 3));
    }
    return text;
  }
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-bash-"));
  const handler = `command_not_found_handle() { printf '%s\\0' COMMAND "\${@//$'\\n'/$'\\x01'}" END >> "$LOG"; }`;
  writeFileSync(join(folder, "start"), `${handler}\nPATH=/nowhere\nx='X Y'\n`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a text with a log of its own: what it leaves running may still write when the next text is run. */
function runIn(text: string, log: string): void {
  writeFileSync(log, "");
  const env = { BASH_ENV: join(folder, "start"), LOG: log, HOME: "/home/x" };
  spawnSync("bash", ["-c", "--", text], { cwd: folder, env, timeout: 10_000, stdio: "ignore" });
}

/** Tells what bash tried to run. */
function attempts(log: string): string[][] {
  const entries = readFileSync(log, "utf8").split("COMMAND\0").slice(1);
  const whole = entries.filter((entry) => entry.endsWith("END\0"));
  return whole.map((entry) =>
    entry
      .split("\0")
      .slice(0, -2)
      .map((word) => word.replaceAll("\x01", "\n")),
  );
}

/** Tells whether words could be what bash made of a command, in which unknown words may become any number of words. */
function agrees(expected: readonly (string | undefined)[], words: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (expected.length === 0) return words.length === 0;
  if (first !== undefined) return words[0] === first && agrees(rest, words.slice(1));
  return words.some((_, index) => agrees(rest, words.slice(index))) || agrees(rest, []);
}

/** Bash writes down what it does not find since version 4. */
const hasBash = spawnSync("bash", ["-c", "exit $((BASH_VERSINFO[0] < 4))"]).status === 0;

unless(hasBash ? undefined : "needs bash 4 or newer: apt-get install bash").describe("the parser and bash", () => {
  verifies(["P3"], "agree on the commands that run", () => {
    const generator = new Generator();
    const texts = Array.from({ length: CASES }, () => generator.text());
    const understood = texts.flatMap((text, index) => {
      const parsed = parseShell(text);
      return parsed.ok ? [{ text, log: join(folder, `log-${index}`), script: parsed.script }] : [];
    });
    for (const { text, log } of understood) runIn(text, log);
    const missed: unknown[] = [];
    let run = 0;
    for (const { text, log, script } of understood) {
      const found = simpleCommands(script).map(({ command }) => command.words.map(fixedValue));
      for (const words of attempts(log)) {
        run += 1;
        if (!found.some((expected) => agrees(expected, words))) missed.push({ text, words });
      }
    }
    expect(missed).toEqual([]);
    expect(understood.length).toBeGreaterThan(CASES / 3);
    expect(run).toBeGreaterThan(CASES / 2);
  });
});
