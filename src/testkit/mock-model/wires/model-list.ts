/** The models the server has. */
import { DEFAULT_MODEL, type ModelSpec } from "../script/script.js";

export interface ModelList {
  readonly all: readonly Required<ModelSpec>[];
  /** Says whether the hosted wires accept unlisted names. They do when the script names no model. */
  readonly open: boolean;
  /** A missing tag means `latest`, as with Ollama. */
  find(name: string): Required<ModelSpec> | undefined;
}

export function createModelList(specs: readonly ModelSpec[]): ModelList {
  const all = specs.length === 0 ? [DEFAULT_MODEL] : specs.map((spec) => ({ ...DEFAULT_MODEL, ...spec }));
  return {
    all,
    open: specs.length === 0,
    find: (name) => all.find((model) => withTag(model.name) === withTag(name)),
  };
}

export function withTag(name: string): string {
  return name.includes(":") ? name : `${name}:latest`;
}
