/**
 * The text format of the catalogue, for the shipped one (assets/models.txt) and for the one that `oxbow models --refresh` fetches.
 *
 * 1. `# …` is a comment, `[name]` begins a provider. `date YYYY-MM-DD LETTERS` is the date of the figures and the abilities that they
 *    tell; without letters, nothing is known about audio.
 * 2. A model is a line of words: id, context, output, rates (input output cache-read cache-write, `-` when unknown), abilities
 *    (`t`ools, `i`mages, `r`easoning, `a`udio, or `-`), then for each tier `>tokens` and its four rates. `200k` is 200000; `400k/272k` is a
 *    context of which 272k may be read.
 * 3. A model without a known price has `-` for all of its rates.
 */

import type { Abilities, ListedFacts, Price, Rates } from "./facts.js";
import { ratesOf } from "./facts.js";

const ABILITIES = "tira";

export interface CatalogueTable {
  /** YYYY-MM-DD. */
  readonly date: string;
  /** By provider, then by the model's id. */
  readonly providers: ReadonlyMap<string, ReadonlyMap<string, ListedFacts>>;
}

/** Throws with the line that is wrong. With `section`, it reads only the models of that section, to save time. */
export function parseTable(text: string, section?: string): CatalogueTable {
  const providers = new Map<string, Map<string, ListedFacts>>();
  let date = "";
  let tellsAudio = false;
  let models: Map<string, ListedFacts> | undefined;
  let isWanted = true;
  for (const [index, line] of text.split("\n").entries()) {
    if (!isWanted && !line.startsWith("[")) continue;
    const words = line.trim().split(/\s+/);
    const [first = ""] = words;
    if (first === "" || first.startsWith("#")) continue;
    try {
      const name = /^\[([\w.-]+)\]$/.exec(first)?.[1];
      if (name !== undefined) {
        isWanted = section === undefined || section === name;
        models = new Map();
        if (isWanted) providers.set(name, models);
      } else if (models === undefined) {
        date = readDate(words);
        tellsAudio = words[2]?.includes("a") === true;
      } else {
        models.set(first, readFacts(words.slice(1), tellsAudio));
      }
    } catch (error) {
      throw new Error(`line ${index + 1}: ${(error as Error).message}`);
    }
  }
  if (date === "") throw new Error("it has no date");
  return { date, providers };
}

export function renderTable({ date, providers }: CatalogueTable, comment: string): string {
  const lines = [...comment.split("\n").map((line) => `# ${line}`), `date ${date} ${ABILITIES}`];
  for (const [provider, models] of providers) {
    lines.push("", `[${provider}]`);
    for (const [id, facts] of models) lines.push(renderFacts(id, facts));
  }
  return `${lines.join("\n")}\n`;
}

function readDate([word, date = ""]: readonly string[]): string {
  if (word !== "date" || !/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new Error("expected 'date YYYY-MM-DD'");
  return date;
}

function readFacts(words: readonly string[], tellsAudio: boolean): ListedFacts {
  const [limits = "", output = ""] = words;
  const [context = "", input] = limits.split("/");
  const price = readPrice(words);
  return {
    context: tokens(context),
    ...(input !== undefined && { input: tokens(input) }),
    output: tokens(output),
    ...(price !== undefined && { price }),
    abilities: readAbilities(words[6], tellsAudio),
  };
}

function readPrice(words: readonly string[]): Price | undefined {
  const tiers = [];
  for (let at = 7; at < words.length; at += 5) {
    const over = words[at] ?? "";
    const rates = readRates(words.slice(at + 1, at + 5));
    if (!over.startsWith(">") || rates === undefined) throw new Error(`'${over}' is not a tier`);
    tiers.push({ over: tokens(over.slice(1)), ...rates });
  }
  const rates = readRates(words.slice(2, 6));
  if (rates === undefined || tiers.length === 0) return rates;
  return { ...rates, tiers: tiers.sort((a, b) => b.over - a.over) };
}

function readRates(words: readonly string[]): Rates | undefined {
  const [input, output, cache_read, cache_write] = words.map((word) => (word === "-" ? undefined : rate(word)));
  return ratesOf({ input, output, cache_read, cache_write });
}

function readAbilities(letters: string | undefined, tellsAudio: boolean): Abilities {
  if (letters === undefined || !/^(-|[tira]+)$/.test(letters)) throw new Error(`'${letters}' are not abilities`);
  return {
    tools: letters.includes("t"),
    images: letters.includes("i"),
    reasoning: letters.includes("r"),
    ...(tellsAudio && { audio: letters.includes("a") }),
  };
}

function tokens(word: string): number {
  const found = /^(\d{1,12})(k?)$/.exec(word);
  if (found === null) throw new Error(`'${word}' is not a number of tokens`);
  return Number(found[1]) * (found[2] === "k" ? 1000 : 1);
}

function rate(word: string): number {
  if (!/^(\d+(\.\d+)?|\.\d+)$/.test(word)) throw new Error(`'${word}' is not a price`);
  return Number(word);
}

function renderFacts(id: string, { context, input, output, price, abilities }: ListedFacts): string {
  const limits = input === undefined ? short(context) : `${short(context)}/${short(input)}`;
  const { tools, images, reasoning, audio } = abilities;
  const letters = `${tools ? "t" : ""}${images ? "i" : ""}${reasoning ? "r" : ""}${audio ? "a" : ""}`;
  const tiers = (price?.tiers ?? []).flatMap((tier) => [`>${short(tier.over)}`, ...renderRates(tier)]);
  return [id, limits, short(output), ...renderRates(price), letters || "-", ...tiers].join(" ");
}

function renderRates(rates: Rates | undefined): readonly string[] {
  const values = [rates?.input, rates?.output, rates?.cache_read, rates?.cache_write];
  return values.map((value) => (value === undefined ? "-" : plain(value)));
}

/** Writes small prices such as `1e-7` without an exponent. */
function plain(value: number): string {
  const text = value.toFixed(10).replace(/\.?0+$/, "");
  return text.startsWith("0.") ? text.slice(1) : text;
}

function short(count: number): string {
  return count >= 1000 && count % 1000 === 0 ? `${count / 1000}k` : String(count);
}
