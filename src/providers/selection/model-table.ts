/** The table of models of `oxbow models` and `/model`. */
import { safeLine } from "../../base/terminal-text.js";
import type { ListedModel } from "../model-list.js";
import type { ProviderState } from "./describe.js";

export interface ModelTable {
  readonly text: string;
  /** The names of the models, in the order of the table. */
  readonly specs: readonly string[];
}

export interface TableOptions {
  /** Gives each model a number to choose it by. */
  readonly numbered?: true;
  /** The most models to show of one provider; some services have hundreds. */
  readonly most?: number;
}

export function modelTable(states: readonly ProviderState[], options: TableOptions = {}): ModelTable {
  const { numbered, most = Number.POSITIVE_INFINITY } = options;
  const ready = states.filter((state) => state.ready);
  const shown = ready.map((state) => ({ state, models: state.models.slice(0, most) }));
  const specs = shown.flatMap(({ state, models }) => models.map((model) => `${state.name}:${model.id}`));
  const digits = numbered ? String(specs.length).length : 0;
  const width = Math.min(60, Math.max(0, ...specs.map((spec) => spec.length)));
  const lines: string[] = [];
  let number = 0;
  for (const { state, models } of shown) {
    lines.push(`${state.name}: ${safeLine(state.detail)}`);
    for (const model of models) {
      number++;
      const mark = numbered ? `${String(number).padStart(digits)}  ` : "";
      lines.push(`  ${mark}${safeLine(`${state.name}:${model.id}`).padEnd(width)}  ${abilityText(model)}`.trimEnd());
    }
    const left = state.models.length - models.length;
    if (left > 0) lines.push(`  … and ${left} more: 'oxbow models ${state.name}' lists them`);
    if (state.models.length === 0) lines.push("  (no models found)");
  }
  const missing = states.filter((state) => !state.ready);
  if (missing.length > 0 && lines.length > 0) lines.push("");
  return { text: [...lines, ...(numbered ? missingNames(missing) : missingLines(missing))].join("\n"), specs };
}

function missingLines(missing: readonly ProviderState[]): readonly string[] {
  const width = Math.max(0, ...missing.map((state) => state.name.length));
  const lines = missing.map(({ name, detail }) => `  ${name.padEnd(width)}  ${safeLine(detail)}`);
  return lines.length === 0 ? [] : ["not ready:", ...lines];
}

/** A menu shows only the names of providers that are not ready. */
function missingNames(missing: readonly ProviderState[]): readonly string[] {
  const names = missing.map(({ name }) => name).join(", ");
  return names === "" ? [] : [`not ready: ${names} ('oxbow models' says why)`];
}

/** `40k context, tools, 5.2 GB` */
export function abilityText({ label, maxContextTokens, tools, bytes, price }: ListedModel): string {
  const parts = [
    label === undefined ? "" : safeLine(label),
    maxContextTokens === undefined ? "" : `${tokens(maxContextTokens)} context`,
    tools === undefined ? "" : tools ? "tools" : "no tools",
    bytes === undefined ? "" : `${(bytes / 1e9).toFixed(1)} GB`,
    price === undefined ? "" : price.input + price.output === 0 ? "free" : `$${price.input}/$${price.output} per M`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function tokens(count: number): string {
  return count < 1000 ? String(count) : `${Math.round(count / (count % 1024 === 0 ? 1024 : 1000))}k`;
}
