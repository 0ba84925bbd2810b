/** Settings of models and providers. */
import { parseDuration } from "../base/duration.js";
import { durationOrOff, limit, wholeNumber } from "../base/read-value.js";
import { UsageError } from "../base/usage-error.js";
import type { Effort } from "../engine/ports.js";
import {
  choice,
  type DeclaredSetting,
  type Setting,
  type SettingReader,
  type SettingsOf,
  setting,
  shown,
  shownTime,
  tables,
} from "../feature/setting.js";
import type { Overrides } from "./catalogue/overrides.js";
import type { LocalOptions } from "./local/local-ollama.js";

export const EFFORTS: readonly Effort[] = ["low", "medium", "high"];

const automatic = (value: string | undefined) => value ?? "(chosen automatically)";

/** Checked when a file has them. */
const models: DeclaredSetting<Overrides | undefined> = {
  about: "[models.NAME]: limits and prices of a model",
  guide: "costs",
  access: "never",
  flags: () => [],
  show: shown,
  take: readModels,
};

export const modelSettings = {
  model: setting({
    about: "the model, as NAME, PROVIDER:NAME or @ROUTE",
    guide: "models",
    command: "model",
    flag: {
      short: "m",
      value: "NAME",
      complete: "model",
      help: "model, as NAME or PROVIDER:NAME (see 'oxbow models')",
    },
    variable: { name: "OXBOW_MODEL", meaning: "model, as NAME or PROVIDER:NAME" },
    read: modelName,
    project: "any",
    show: automatic,
  }),
  provider: setting({
    about: "the provider whose default model is used",
    guide: "models",
    flag: {
      value: "NAME",
      complete: "provider",
      help: "anthropic, openai, ollama, offline … ('oxbow models' lists them all)",
    },
    variable: { name: "OXBOW_PROVIDER", meaning: "provider to use; 'oxbow models' lists them" },
    read: providerName,
    project: "any",
    show: automatic,
  }),
  max_output_tokens: setting({
    about: "the most tokens of one answer",
    guide: "local-models",
    read: wholeNumber,
    project: "any",
  }),
  max_answer_chars: setting({
    about: "the characters after which an endless answer is stopped",
    guide: "costs",
    fallback: 10_000_000,
    read: wholeNumber,
  }),
  effort: choice(EFFORTS, {
    about: "how much the model thinks: low, medium or high",
    guide: "models",
    command: "effort",
    flag: {
      value: "LEVEL",
      help: "how much the model thinks: low, medium, high (default: the model decides)",
    },
    variable: {
      name: "OXBOW_EFFORT",
      meaning: "how much the model thinks: low, medium or high (default: the model decides)",
    },
    project: "any",
  }),
  retry_wait: setting({
    about: "how long to retry a busy or failing provider",
    guide: "costs",
    flag: { value: "TIME", help: "how long one model call may wait for a busy provider (default 5m; 0: no retries)" },
    fallback: 300_000,
    read: waitTime,
    project: "any",
    show: shownTime,
  }),
  copilot_fallback: choice(["openrouter", "off"], {
    about: "whether a refused key of Copilot fails over to the same model of OpenRouter",
    guide: "costs",
    fallback: "openrouter",
  }),
  routes: tables({ about: "[routes.NAME]: models that stand in for each other", guide: "costs" }),
  providers: tables({ about: "[providers.NAME]: providers of your own", guide: "own-provider" }),
  models,
  catalogue_url: setting({
    about: "where 'oxbow models --refresh' gets limits and prices",
    guide: "costs",
    variable: {
      name: "OXBOW_CATALOGUE_URL",
      meaning: "where 'oxbow models --refresh' gets limits and prices (default: models.dev)",
    },
    read: String,
  }),
  num_ctx: setting({
    about: "the context that Ollama loads a model with",
    guide: "local-models",
    read: wholeNumber,
    project: "any",
  }),
  keep_alive: setting({
    about: "how long Ollama keeps a model loaded",
    guide: "local-models",
    read: keepAlive,
    project: "any",
  }),
  local_idle: setting({
    about: "how long a model on this machine may be silent",
    guide: "local-models",
    read: durationOrOff,
    show: shownTime,
  }),
  ollama_timeout: setting({
    about: "the time limit of one answer of a model on this machine",
    guide: "local-models",
    flag: { value: "TIME", help: "time limit for one answer of a model on this machine (default: off)" },
    read: limit,
    show: shownTime,
  }),
};

export type ModelSettings = SettingsOf<typeof modelSettings>;

/** Returns the options of models on this machine. */
export function localOptions({ num_ctx, keep_alive, local_idle, ollama_timeout }: ModelSettings): LocalOptions {
  return {
    ...(local_idle.value !== undefined && { idleMs: local_idle.value }),
    ...(ollama_timeout.value !== undefined && { answerMs: ollama_timeout.value }),
    ...(num_ctx.value !== undefined && { numCtx: num_ctx.value }),
    ...(keep_alive.value !== undefined && { keepAlive: keep_alive.value }),
  };
}

function modelName(text: string): string {
  if (/^\s*(:|$)/.test(text)) throw new UsageError(`expected NAME or PROVIDER:NAME, got "${text}".`);
  return text;
}

function providerName(text: string): string {
  if (text.trim() === "") throw new UsageError("expected the name of a provider, got nothing.");
  return text;
}

function waitTime(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new UsageError(`expected a duration such as 30s or 5m, or 0, got "${text}".`);
  return value;
}

/** Reads Ollama's syntax, which has "forever" (any negative value) and "not at all". */
function keepAlive(text: string): string {
  if (/^-?\d+$|^-?(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return text;
  throw new UsageError(`expected a duration such as 10m, 0 (unload at once) or -1 (keep), got "${text}".`);
}

async function readModels(from: SettingReader, key: string): Promise<Setting<Overrides | undefined>> {
  const { value, origin } = from.tables(key);
  if (value === undefined) return { value: undefined, origin };
  const { readOverrides } = await import("./catalogue/overrides.js");
  try {
    return { value: readOverrides(value), origin };
  } catch (error) {
    throw new UsageError(`${origin}: ${(error as Error).message}`);
  }
}
