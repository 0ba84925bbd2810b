/**
 * Made-up files, edits of them, and the ways in which a model misquotes: test data whose right answer is known.
 * Seeded, so that a failure can be repeated.
 */
export interface GeneratedEdit {
  readonly file: string;
  readonly old: string;
  readonly new: string;
  /** The file after the edit as it was meant. */
  readonly truth: string;
  readonly distortions: readonly string[];
}

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** mulberry32 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}

/* ---- files ---- */

const NAMES = ["user", "order", "total", "index", "cache", "value", "node", "größe", "данные"];
const STRINGS = [
  "hello",
  "it's fine",
  "a b",
  "C:\\\\temp",
  "line\\n",
  "“quoted”",
  "1–2",
  'say \\"hi\\"',
  "ﬁle",
  "x, y;",
  "",
];

function statement(random: Random): string {
  const a = random.pick(NAMES);
  const b = random.pick(NAMES);
  const quote = random.pick(['"', '"', "'", "`"]);
  const text = random.pick(STRINGS).replaceAll(quote, "");
  switch (random.below(9)) {
    case 0:
      return `const ${a} = ${b} + ${random.below(3)};`;
    case 1:
      return `${a}.set(${quote}${text}${quote}, ${b});`;
    case 2:
      return `return ${a};`;
    case 3:
      return `print(${quote}${text}${quote})`;
    case 4:
      return `${a}: ${random.below(3)},`;
    case 5:
      return `// ${a} – see ${b}`;
    case 6:
      return `if (/\\d+\\.${a}/.test(${b})) ${a}++;`;
    case 7:
      return `${a}  =  ${b}`;
    default:
      return `await ${a}(${b}, [${random.below(3)}])`;
  }
}

function block(random: Random, indent: string, unit: string): string[] {
  const lines = [`${indent}${random.pick(["function", "if", "for"])} (${random.pick(NAMES)}) {`];
  for (let i = random.between(1, 4); i > 0; i--) {
    if (indent.length < 3 * unit.length && random.chance(0.25)) lines.push(...block(random, indent + unit, unit));
    else lines.push(indent + unit + statement(random) + (random.chance(0.08) ? "  " : ""));
    if (random.chance(0.15)) lines.push(random.chance(0.2) ? indent : "");
  }
  lines.push(`${indent}}${random.pick(["", "", ";", ","])}`);
  return lines;
}

/** Several blocks, some of them nearly the same as one before. */
function makeLines(random: Random): string[] {
  const unit = random.pick(["  ", "    ", "\t"]);
  const blocks: string[][] = [];
  for (let i = random.between(2, 6); i > 0; i--) {
    const model = blocks.length > 0 && random.chance(0.3) ? random.pick(blocks) : undefined;
    blocks.push(
      model === undefined ? block(random, random.chance(0.3) ? unit : "", unit) : nearly(random, model, unit),
    );
  }
  const lines = blocks.flatMap((each) => [...each, ...(random.chance(0.7) ? [""] : [])]);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function nearly(random: Random, lines: readonly string[], unit: string): string[] {
  const out = [...lines];
  const at = random.below(out.length);
  const line = out[at] as string;
  switch (random.below(6)) {
    case 0:
      out[at] = line.replace(random.pick(NAMES), random.pick(NAMES));
      break;
    case 1:
      return out.map((each) => (each === "" ? "" : unit + each));
    case 2:
      out[at] = line.replaceAll('"', "'");
      break;
    case 3:
      out[at] = `${line} `;
      break;
    case 4:
      out.splice(at, 0, line.replace(/\d/, "7"));
      break;
    default:
      out[at] = line.replace(/[;,]$/, "");
  }
  return out;
}

/* ---- edits ---- */

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? "";
}

function changeLine(random: Random, line: string): string {
  const indent = indentOf(line);
  switch (random.below(4)) {
    case 0:
      return indent + statement(random);
    case 1:
      return line.replace(/[\p{L}]+/u, "renamed");
    case 2:
      return line.replace(/\d/, "99");
    default:
      return `${line.trimEnd()} // note`;
  }
}

function makeNew(random: Random, old: readonly string[]): string[] {
  const out: string[] = [];
  let indent = indentOf(old.find((line) => line.trim() !== "") ?? "");
  for (const line of old) {
    const roll = random.next();
    if (line.trim() !== "") indent = indentOf(line);
    if (roll < 0.35 && line.trim() !== "") out.push(changeLine(random, line));
    else if (roll < 0.45) out.push(line, indent + statement(random));
    else if (roll < 0.55 && old.length > 1) continue;
    else out.push(line);
  }
  return out;
}

/* ---- misquotations ---- */

interface Pair {
  readonly old: readonly string[];
  readonly new: readonly string[];
}

type Distortion = (pair: Pair, random: Random) => Pair;

/** Only the quotation is wrong; the new text is as it should be in the file. */
function oldOnly(change: (lines: readonly string[], random: Random) => readonly string[]): Distortion {
  return (pair, random) => ({ ...pair, old: change(pair.old, random) });
}

/** Both texts are wrong in the same way. */
function both(change: (lines: readonly string[]) => readonly string[]): Distortion {
  return (pair) => ({ old: change(pair.old), new: change(pair.new) });
}

const eachLine = (change: (line: string) => string) => (lines: readonly string[]) => lines.map(change);

function dedent(lines: readonly string[]): readonly string[] {
  const solid = lines.filter((line) => line.trim() !== "");
  const shared = Math.min(...solid.map((line) => indentOf(line).length));
  return lines.map((line) => (line.trim() === "" ? line : line.slice(shared)));
}

function escapeAll(lines: readonly string[]): readonly string[] {
  return [JSON.stringify(lines.join("\n")).slice(1, -1)];
}

function hasSolidEnds(lines: readonly string[]): boolean {
  return lines[0]?.trim() !== "" && lines.at(-1)?.trim() !== "";
}

function atOne(lines: readonly string[], random: Random, change: (line: string) => string): readonly string[] {
  const at = random.below(lines.length);
  return lines.map((line, i) => (i === at ? change(line) : line));
}

export const DISTORTIONS: Readonly<Record<string, Distortion>> = {
  "trailing space added": oldOnly(eachLine((line) => `${line}  `)),
  "trailing space removed": oldOnly(eachLine((line) => line.trimEnd())),
  "dedented, old": oldOnly(dedent),
  "dedented, both": (pair) => {
    const moved = dedent([...pair.old, ...pair.new]);
    return { old: moved.slice(0, pair.old.length), new: moved.slice(pair.old.length) };
  },
  "indented, old": oldOnly(eachLine((line) => (line.trim() === "" ? line : `  ${line}`))),
  "indented, both": both(eachLine((line) => (line.trim() === "" ? line : `  ${line}`))),
  "tabs to spaces, old": oldOnly(eachLine((line) => line.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length)))),
  "tabs to spaces, both": both(eachLine((line) => line.replace(/^\t+/, (tabs) => "    ".repeat(tabs.length)))),
  "indentation halved, old": oldOnly(
    eachLine((line) => line.replace(/^ +/, (spaces) => " ".repeat(spaces.length / 2))),
  ),
  flattened: oldOnly(eachLine((line) => line.trimStart())),
  "first line cut, old": oldOnly((lines) => lines.map((line, i) => (i === 0 ? line.trimStart() : line))),
  "first line cut, both": (pair) => {
    const indent = indentOf(pair.old[0] ?? "");
    if (indentOf(pair.new[0] ?? "") !== indent) return pair;
    const cut = (lines: readonly string[]) => lines.map((line, i) => (i === 0 ? line.slice(indent.length) : line));
    return { old: cut(pair.old), new: cut(pair.new) };
  },
  "ends trimmed, old": oldOnly((lines) => (hasSolidEnds(lines) ? lines.join("\n").trim().split("\n") : lines)),
  "end cut, old": oldOnly((lines, random) => {
    const last = lines.at(-1)?.trimEnd() ?? "";
    return hasSolidEnds(lines) ? lines.with(-1, last.slice(0, Math.max(4, last.length - random.between(1, 6)))) : lines;
  }),
  "start cut, old": oldOnly((lines, random) => {
    const first = lines[0] ?? "";
    const cut = Math.min(random.between(1, 12), first.trimEnd().length - 4);
    return hasSolidEnds(lines) && cut > 0 ? lines.with(0, first.slice(cut)) : lines;
  }),
  "plain quotes": oldOnly(eachLine((line) => line.replace(/[“”]/g, '"').replace(/[‘’]/g, "'").replace(/–/g, "-"))),
  "fancy quotes": oldOnly(eachLine((line) => line.replaceAll('"', "”").replaceAll("'", "’"))),
  "swapped quotes": oldOnly(eachLine((line) => line.replaceAll('"', "'"))),
  "escaped, old": oldOnly(escapeAll),
  "escaped, both": both(escapeAll),
  "escaped quotes, old": oldOnly(eachLine((line) => line.replaceAll('"', '\\"'))),
  "escaped quotes, both": (pair) => {
    const escapeQuotes = eachLine((line) => line.replaceAll('"', '\\"'));
    const isPlain = !/\\"/.test([...pair.old, ...pair.new].join());
    if (!isPlain || !pair.old.join().includes('"')) return pair;
    return { old: escapeQuotes(pair.old), new: escapeQuotes(pair.new) };
  },
  "backslashes lost": oldOnly(eachLine((line) => line.replaceAll("\\", ""))),
  "spaces doubled": oldOnly((lines, random) =>
    atOne(lines, random, (line) => indentOf(line) + line.trimStart().replaceAll(" ", "  ")),
  ),
  "spaces dropped": oldOnly((lines, random) =>
    atOne(lines, random, (line) => indentOf(line) + line.trimStart().replace(/ ?([(){}=+,:]) ?/g, "$1")),
  ),
  "blank lines dropped": ({ old, new: fresh }) => {
    const meant = `\n${fresh.join("\n")}\n`;
    // Only where the new text has it, too: otherwise the edit would be another one.
    const isLost = (line: string, i: number) =>
      line.trim() === "" && i > 0 && i < old.length - 1 && meant.includes(`\n${old.slice(i - 1, i + 2).join("\n")}\n`);
    const first = old.findIndex((line) => line.trim() !== "");
    const last = old.findLastIndex((line) => line.trim() !== "");
    return { new: fresh, old: old.filter((line, i) => i < first || i > last || !isLost(line, i)) };
  },
  "blank line added": oldOnly((lines, random) => {
    const at = random.between(1, lines.length - 1);
    const isInner = lines.length > 1 && lines.slice(at - 1, at + 1).every((line) => line.trim() !== "");
    return isInner ? lines.toSpliced(at, 0, "") : lines;
  }),
  "end mark dropped": oldOnly((lines, random) => atOne(lines, random, (line) => line.replace(/[;,]\s*$/, ""))),
  "end mark added": oldOnly((lines, random) => atOne(lines, random, (line) => `${line};`)),
  "no-break space": oldOnly((lines, random) => atOne(lines, random, (line) => line.replace(" ", "\u00a0"))),
  "zero-width space": oldOnly((lines, random) =>
    atOne(lines, random, (line) => (line.trim() === "" ? line : `${line.slice(0, 5)}\u200b${line.slice(5)}`)),
  ),
  decomposed: oldOnly(eachLine((line) => line.normalize("NFKD"))),
  "line numbers": oldOnly((lines, random) => {
    const first = random.between(1, 300);
    return lines.map((line, i) => `${first + i}\t${line}`);
  }),
  "a word changed": oldOnly((lines, random) => atOne(lines, random, (line) => line.replace(/[a-z]+/, "other"))),
  "a line lost": oldOnly((lines, random) => {
    const at = random.between(1, lines.length - 2);
    const isInner = lines.length > 2 && lines.slice(at - 1, at + 2).every((line) => line.trim() !== "");
    return isInner ? lines.toSpliced(at, 1) : lines;
  }),
};

/** An edit of a made-up file, quoted more or less well. Undefined when the made-up edit changes nothing. */
export function generateEdit(seed: number): GeneratedEdit | undefined {
  const random = new Random(seed);
  const lines = makeLines(random);
  const start = random.below(lines.length);
  const end = Math.min(lines.length, start + random.between(1, 6));
  const quoted = lines.slice(start, end);
  const meant = makeNew(random, quoted);
  const names: string[] = [];
  const closed = random.chance(0.4) && meant.length > 0;
  let pair: Pair = closed ? { old: [...quoted, ""], new: [...meant, ""] } : { old: quoted, new: meant };
  for (let i = random.pick([0, 1, 1, 1, 2, 2, 3]); i > 0; i--) {
    const name = random.pick(Object.keys(DISTORTIONS));
    // A new text that is wrong in one way is only right again if nothing else was done to its pair.
    if (names.some((other) => other.endsWith("both")) || (names.length > 0 && name.endsWith("both"))) continue;
    // Cutting an escaped text would cut more than one line.
    if (/cut|trimmed/.test(name) && names.some((other) => other.startsWith("escaped"))) continue;
    names.push(name);
    pair = (DISTORTIONS[name] as Distortion)(pair, random);
  }
  const file = lines.join("\n") + (random.chance(0.8) ? "\n" : "");
  const after = [...lines.slice(0, start), ...(meant.length > 0 ? meant : [""]), ...lines.slice(end)];
  const truth = after.join("\n") + (file.endsWith("\n") ? "\n" : "");
  if (truth === file || quoted.every((line) => line.trim() === "")) return undefined;
  if (names.some((name) => name.startsWith("a ")) && quotesOther(pair.old, lines)) return undefined;
  return { file, old: pair.old.join("\n"), new: pair.new.join("\n"), truth, distortions: names };
}

/** A quotation that lost a line or a word may have become a fair one of another place. */
function quotesOther(old: readonly string[], lines: readonly string[]): boolean {
  const bare = (text: readonly string[]) =>
    text
      .join("\n")
      .replace(/\\[nt]/g, "")
      .replace(/[^\p{L}\p{N}{}]/gu, "");
  return bare(lines).includes(bare(old));
}
