/**
 * The facts about any model: from the user's profile, else from the catalogue, else cautious limits and no price.
 *
 * 1. The first lookup reads the files, and it comes after the first request has been sent.
 * 2. A price is never a guess. The prices of another server behind a provider's name (family `…-compatible`) are unknown.
 */
import { processCache } from "../../base/cache-budget.js";
import { findProvider } from "../named.js";
import { ASSUMED, type ListedFacts, type ModelFacts } from "./facts.js";
import { ModelIndex } from "./match.js";
import type { Overrides } from "./overrides.js";
import { parseTable } from "./table.js";

export interface AskedModel {
  readonly provider: string;
  readonly model: string;
  /** Distinguishes another server behind the provider's name; default: the provider's name. */
  readonly family?: string;
}

export interface CatalogueOptions {
  readonly overrides?: Overrides;
  /** The catalogue that was fetched last, if there is one. */
  readonly readFetched?: () => Promise<string | undefined>;
}

/** Other names of a section. */
const SAME: Readonly<Record<string, string>> = { "openai-responses": "openai" };
const FREE = { input: 0, output: 0 } as const;

/** About what the facts of a model take in memory. */
const MODEL_BYTES = 600;
let nextKey = 0;

export class Catalogue {
  readonly #options: CatalogueOptions;
  #tables: Promise<Tables> | undefined;
  readonly #sections = processCache<Section>("model catalogue");
  /** Catalogues differ by what was fetched. */
  readonly #key = nextKey++;

  constructor(options: CatalogueOptions = {}) {
    this.#options = options;
  }

  /** The date of the figures. */
  async date(): Promise<string> {
    return (await this.#load()).date;
  }

  async facts(asked: AskedModel): Promise<ModelFacts> {
    const found = await this.#found(asked);
    const override = this.#options.overrides?.get(`${asked.provider}:${asked.model}`);
    if (override === undefined) return found;
    const { withOverride } = await import("./overrides.js");
    const isAssumed = found.assumed && override.context === undefined;
    return { ...withOverride(found, override), source: "profile", ...(isAssumed && { assumed: true as const }) };
  }

  /** The ids of the models that it lists for a provider. */
  async ids(provider: string): Promise<readonly string[]> {
    return [...((await this.#section(SAME[provider] ?? provider))?.models.keys() ?? [])];
  }

  async #found(asked: AskedModel): Promise<ModelFacts> {
    const { provider, model, family = provider } = asked;
    if (isLocal(asked)) {
      const note = "runs on your own machine, so Oxbow counts no cost";
      return { ...ASSUMED, assumed: true, price: FREE, source: "local", note };
    }
    const listed = await this.#listed(provider, model);
    if (listed !== undefined && !family.endsWith("-compatible")) return listed;
    if (listed !== undefined) {
      const { price: _price, ...limits } = listed;
      return { ...limits, note: `another server answers for ${provider}: its prices are not known` };
    }
    const note = `${provider}:${model} is not in the catalogue: its price is unknown, its limits are assumed`;
    return { ...ASSUMED, assumed: true, source: "assumed", note };
  }

  async #listed(provider: string, model: string): Promise<ModelFacts | undefined> {
    const name = SAME[provider] ?? provider;
    const section = await this.#section(name);
    if (section === undefined) return undefined;
    const match = section.index.find(model);
    if (match !== undefined) {
      const facts = section.models.get(match.id) as ListedFacts;
      return { ...facts, source: "catalogue", ...(match.similar && { note: `as ${match.id}` }) };
    }
    return this.#variant(name, model);
  }

  /** OpenRouter's `vendor/name:nitro` is the model by another route, at that route's price. */
  async #variant(section: string, model: string): Promise<ModelFacts | undefined> {
    const base = section === "openrouter" ? /^(.+\/[^:]+):[a-z]+$/.exec(model)?.[1] : undefined;
    const found = base === undefined ? undefined : await this.#listed(section, base);
    if (found === undefined) return undefined;
    const { price: _price, ...limits } = found;
    return { ...limits, note: `limits as ${base}; the price of this route is unknown` };
  }

  async #section(name: string): Promise<Section | undefined> {
    const known = this.#sections.get(`${this.#key}:${name}`);
    if (known !== undefined) return known;
    const { texts } = await this.#load();
    const models = readSection(texts, name);
    if (models === undefined) return undefined;
    const section = { models, index: new ModelIndex(name, models.keys()) };
    this.#sections.set(`${this.#key}:${name}`, section, models.size * MODEL_BYTES);
    return section;
  }

  #load(): Promise<Tables> {
    this.#tables ??= this.#newest();
    return this.#tables;
  }

  async #newest(): Promise<Tables> {
    const [{ default: shipped }, fetched] = await Promise.all([
      import("../../../assets/models.txt"),
      this.#options.readFetched?.().catch(() => undefined),
    ]);
    const date = dateOf(shipped) ?? "";
    const fetchedDate = fetched === undefined ? undefined : dateOf(fetched);
    if (fetched === undefined || fetchedDate === undefined || fetchedDate <= date) return { date, texts: [shipped] };
    return { date: fetchedDate, texts: [fetched, shipped] };
  }
}

/** The newest first. */
interface Tables {
  readonly date: string;
  readonly texts: readonly string[];
}

interface Section {
  readonly models: ReadonlyMap<string, ListedFacts>;
  readonly index: ModelIndex;
}

/** A fetched table that is damaged or older than the shipped one is ignored. */
function readSection(texts: readonly string[], name: string): ReadonlyMap<string, ListedFacts> | undefined {
  for (const text of texts) {
    try {
      return parseTable(text, name).providers.get(name);
    } catch {}
  }
  return undefined;
}

function dateOf(text: string): string | undefined {
  try {
    return parseTable(text, "").date;
  } catch {
    return undefined;
  }
}

const OFFLINE = "offline";

function isLocal({ provider, model }: AskedModel): boolean {
  if (provider === OFFLINE) return true;
  // Ollama's own service answers for these, and they need a paid plan.
  return findProvider(provider)?.local === true && !/[:-]cloud$/.test(model);
}
