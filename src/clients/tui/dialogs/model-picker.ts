/** Chooses a model by typing a part of its name, and how much it thinks with left and right. */
import { groupDigits } from "../../../base/group-digits.js";
import { truncateText } from "../../../base/text-width.js";
import type { ModelInfo } from "../../../protocol/queries.js";
import type { Dialog } from "./dialog.js";
import { type PickerItem, type PickerOptions, type PickerState, pickerDialog } from "./list-picker.js";

const EFFORTS = ["auto", "low", "medium", "high"] as const;

const OFFLINE = "offline";

export interface ModelPickerState {
  readonly list: PickerState;
  /** The index in `EFFORTS`. */
  readonly effort: number;
}

export interface ChosenModel {
  /** `provider:model` */
  readonly model: string;
  readonly effort: string;
}

export function modelDialog(
  options: PickerOptions<string> & { readonly effort: string | undefined },
): Dialog<ModelPickerState, ChosenModel | undefined> {
  const list = pickerDialog(options);
  const now = Math.max(0, EFFORTS.indexOf((options.effort ?? "auto") as (typeof EFFORTS)[number]));
  const { onPaste } = list;
  return {
    name: list.name,
    first: { list: list.first, effort: now },
    onKey: (state, key) => {
      const by = { left: -1, right: 1 }[key.id ?? ""];
      if (by !== undefined)
        return { state: { ...state, effort: (state.effort + by + EFFORTS.length) % EFFORTS.length } };
      const step = list.onKey(state.list, key);
      if ("state" in step) return { state: { ...state, list: step.state } };
      const { done: model } = step;
      return { done: model === undefined ? undefined : { model, effort: EFFORTS[state.effort] ?? "auto" } };
    },
    ...(onPaste && {
      onPaste: (state, text) => {
        const step = onPaste(state.list, text);
        return "state" in step ? { state: { ...state, list: step.state } } : { state };
      },
    }),
    view: ({ list: state, effort }, size, theme) => {
      const view = list.view(state, { ...size, rows: size.rows - 1 }, theme);
      const levels = EFFORTS.map((name, index) => (index === effort ? `[${name}]` : name)).join(" ");
      const line = truncateText(`effort: ${levels} · left and right change it`, size.columns);
      return { ...view, lines: [...view.lines, theme.dim(line)] };
    },
  };
}

/** Says how to get a language model if there is none. */
export function noteOn(models: readonly Pick<ModelInfo, "provider">[]): string | undefined {
  if (models.some(({ provider }) => provider !== OFFLINE)) return undefined;
  return "For other models: /login signs in or stores a key, or start Ollama.";
}

/** The current model is there even if its provider does not list it. */
export function modelItems(models: readonly ModelInfo[], current: string): readonly PickerItem<string>[] {
  const items = models.map((info) => modelItem(info, current));
  if (items.some((item) => item.current)) return items;
  return [{ value: current, label: current, current: true }, ...items];
}

function modelItem(info: ModelInfo, current: string): PickerItem<string> {
  const { provider, model, label, context_window: window, price } = info;
  const value = `${provider}:${model}`;
  return {
    value,
    label: value,
    columns: [
      window === undefined ? "" : `${groupDigits(Math.round(window / 1000))}k`,
      price === undefined ? "" : `$${price.input}/$${price.output}`,
      abilitiesOf(info),
    ],
    preview: previewOf(info, label),
    current: value === current,
  };
}

function abilitiesOf({ tools, images, thinking }: ModelInfo): string {
  const names = { tools, images, thinking };
  return Object.entries(names)
    .flatMap(([name, can]) => (can ? [name] : []))
    .join(", ");
}

/** The columns in words. */
function previewOf(info: ModelInfo, label: string | undefined): readonly string[] {
  const { context_window: window, price, tools } = info;
  const words = [
    label,
    window === undefined ? undefined : `reads ${groupDigits(window)} tokens`,
    price === undefined ? undefined : `$${price.input} for a million tokens in, $${price.output} out`,
    tools === false ? "cannot call tools" : undefined,
  ].filter((text) => text !== undefined);
  return words.length === 0 ? [] : [words.join(" · ")];
}
