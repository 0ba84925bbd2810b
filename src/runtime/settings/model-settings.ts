/** Settings of models and providers. */
import { UsageError } from "../../base/usage-error.js";
import type { Effort } from "../../engine/ports.js";
import type { Overrides } from "../../providers/catalogue/overrides.js";
import type { LocalOptions } from "../../providers/local/local-ollama.js";
import type { Setting, SettingReader } from "./setting.js";
import * as read from "./setting-readers.js";

export interface ModelSettings {
  readonly provider: Setting<string | undefined>;
  readonly model: Setting<string | undefined>;
  readonly max_output_tokens: Setting<number | undefined>;
  /** A longer answer ends the turn as a failure. */
  readonly max_answer_chars: Setting<number>;
  /** How much the model thinks. */
  readonly effort: Setting<Effort | undefined>;
  /** How long a model call waits for a busy or failing provider; 0 disables retries. */
  readonly retry_wait_ms: Setting<number>;
  /** Which provider answers while Copilot refuses the sign-in. */
  readonly copilot_fallback: Setting<"openrouter" | "off">;
  /** The `[routes]` tables, as they were written. */
  readonly routes: Setting<unknown>;
  /** The `[providers]` tables, as they were written. */
  readonly providers: Setting<unknown>;
  /** The `[models]` tables, checked. */
  readonly models: Setting<Overrides | undefined>;
  readonly catalogue_url: Setting<string | undefined>;
  /** For local models: exactly this much context, instead of what a request needs. */
  readonly num_ctx: Setting<number | undefined>;
  /** How long Ollama keeps a model in memory after an answer. */
  readonly keep_alive: Setting<string | undefined>;
  /** How long a model on this machine may be silent; undefined for no limit. */
  readonly local_idle_ms: Setting<number | undefined>;
  /** The time limit for one answer of a model on this machine; undefined for none. */
  readonly ollama_timeout_ms: Setting<number | undefined>;
}

export async function readModelSettings(from: SettingReader): Promise<ModelSettings> {
  return {
    provider: from.pick({
      key: "provider",
      flag: "provider",
      variable: "OXBOW_PROVIDER",
      fallback: undefined,
      read: read.providerName,
      project: "any",
    }),
    model: from.pick({
      key: "model",
      flag: "model",
      variable: "OXBOW_MODEL",
      fallback: undefined,
      read: read.modelName,
      project: "any",
    }),
    max_output_tokens: from.pick({
      key: "max_output_tokens",
      fallback: undefined,
      read: read.wholeNumber,
      project: "any",
    }),
    max_answer_chars: from.pick({ key: "max_answer_chars", fallback: 10_000_000, read: read.wholeNumber }),
    effort: from.pick<Effort | undefined>({
      key: "effort",
      flag: "effort",
      variable: "OXBOW_EFFORT",
      fallback: undefined,
      read: read.effort,
      project: "any",
    }),
    retry_wait_ms: from.pick({
      key: "retry_wait",
      flag: "retry-wait",
      fallback: 300_000,
      read: read.wait,
      project: "any",
    }),
    copilot_fallback: from.pick<"openrouter" | "off">({
      key: "copilot_fallback",
      fallback: "openrouter",
      read: read.copilotFallback,
    }),
    routes: from.tables("routes"),
    providers: from.tables("providers"),
    models: await readModels(from),
    catalogue_url: from.pick({
      key: "catalogue_url",
      variable: "OXBOW_CATALOGUE_URL",
      fallback: undefined,
      read: String,
    }),
    num_ctx: from.pick({ key: "num_ctx", fallback: undefined, read: read.wholeNumber, project: "any" }),
    keep_alive: from.pick({ key: "keep_alive", fallback: undefined, read: read.keepAlive, project: "any" }),
    local_idle_ms: from.pick<number | undefined>({ key: "local_idle", fallback: undefined, read: read.durationOrOff }),
    ollama_timeout_ms: from.pick<number | undefined>({
      key: "ollama_timeout",
      flag: "ollama-timeout",
      fallback: undefined,
      read: read.limit,
    }),
  };
}

/** The options of models on this machine. */
export function localOptions(settings: ModelSettings): LocalOptions {
  const { num_ctx, keep_alive, local_idle_ms, ollama_timeout_ms } = settings;
  return {
    ...(local_idle_ms.value !== undefined && { idleMs: local_idle_ms.value }),
    ...(ollama_timeout_ms.value !== undefined && { answerMs: ollama_timeout_ms.value }),
    ...(num_ctx.value !== undefined && { numCtx: num_ctx.value }),
    ...(keep_alive.value !== undefined && { keepAlive: keep_alive.value }),
  };
}

async function readModels(from: SettingReader): Promise<Setting<Overrides | undefined>> {
  const { value, origin } = from.tables("models");
  if (value === undefined) return { value: undefined, origin };
  const { readOverrides } = await import("../../providers/catalogue/overrides.js");
  try {
    return { value: readOverrides(value), origin };
  } catch (error) {
    throw new UsageError(`${origin}: ${(error as Error).message}`);
  }
}
