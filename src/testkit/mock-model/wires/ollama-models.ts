/**
 * Ollama's models on the disk and in memory: which are installed, which are loaded and with how much context, and the progress of
 * pulls.
 */
import type { ModelSpec } from "../script/script.js";
import { withTag } from "./model-list.js";

export interface LoadedModel {
  readonly model: Required<ModelSpec>;
  readonly contextTokens: number;
}

const PULL_STEPS = 20;

export class OllamaModels {
  readonly #all: readonly Required<ModelSpec>[];
  readonly #installed: Set<string>;
  readonly #loaded = new Map<string, LoadedModel>();
  /** Finished steps of each pull: an interrupted pull resumes there. */
  readonly #pulled = new Map<string, number>();

  constructor(all: readonly Required<ModelSpec>[]) {
    this.#all = all;
    this.#installed = new Set(all.filter((model) => model.installed === "yes").map((model) => withTag(model.name)));
  }

  get installed(): readonly Required<ModelSpec>[] {
    return this.#all.filter((model) => this.#installed.has(withTag(model.name)));
  }

  get running(): readonly LoadedModel[] {
    return [...this.#loaded.values()];
  }

  find(name: string): Required<ModelSpec> | undefined {
    return this.installed.find((model) => withTag(model.name) === withTag(name));
  }

  /** A different context size loads the model again. */
  load(name: string, wanted: number): { readonly ms: number; done(): void } {
    const model = this.find(name);
    if (model === undefined) return { ms: 0, done: () => {} };
    const key = withTag(name);
    const contextTokens = Math.min(wanted, model.contextLength);
    const ready = this.#loaded.get(key)?.contextTokens === contextTokens;
    if (!ready) this.#loaded.delete(key);
    return { ms: ready ? 0 : model.loadMs, done: () => void this.#loaded.set(key, { model, contextTokens }) };
  }

  /** Undefined if the model does not exist. */
  pull(name: string): { readonly texts: Iterable<string>; readonly everyMs: number } | undefined {
    const model = this.#all.find((candidate) => withTag(candidate.name) === withTag(name));
    if (model === undefined) return undefined;
    return { texts: this.#pullLines(model), everyMs: model.pullMs / PULL_STEPS };
  }

  *#pullLines(model: Required<ModelSpec>): Generator<string> {
    const key = withTag(model.name);
    const line = (fields: object) => `${JSON.stringify(fields)}\n`;
    const digest = `sha256:${digestOf(model.name)}`;
    const layer = { status: `pulling ${digest.slice(7, 19)}`, digest, total: model.bytes };
    yield line({ status: "pulling manifest" });
    for (let step = this.#pulled.get(key) ?? 0; step <= PULL_STEPS; step++) {
      this.#pulled.set(key, step);
      const completed = Math.floor((model.bytes * step) / PULL_STEPS);
      yield line(completed === 0 ? layer : { ...layer, completed });
    }
    yield line({ status: "verifying sha256 digest" });
    this.#installed.add(key);
    yield line({ status: "writing manifest" });
    yield line({ status: "success" });
  }
}

/** 64 hexadecimal digits, derived from the name. */
export function digestOf(name: string): string {
  return Buffer.from(withTag(name)).toString("hex").padEnd(64, "0").slice(0, 64);
}
