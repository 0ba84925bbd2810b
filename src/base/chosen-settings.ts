/** Settings that a person changes in a conversation, and that hold for new sessions, too. */
import { isJsonObject, type JsonValue } from "../protocol/json.js";

/** By the key in `config.toml`. Null: the default again. */
export type ChosenSettings = Readonly<Record<string, string | number | boolean | readonly string[] | null>>;

/** Saves them and returns a sentence for the person. */
export type SaveSettings = (chosen: ChosenSettings) => Promise<string>;

/** Reads what `/model NAME` or `/effort LEVEL` chose from its answer; undefined for other commands, and if they only showed something. */
export function chosenBy(verb: string, args: string, value: JsonValue): ChosenSettings | undefined {
  if (args.trim() === "" || !isJsonObject(value)) return undefined;
  const { model, effort } = value;
  if (verb === "model" && typeof model === "string") return { model };
  if (verb === "effort" && (typeof effort === "string" || effort === null)) return { effort };
  return undefined;
}
