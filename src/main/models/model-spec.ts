/** Models as people write them: `NAME`, `PROVIDER`, or `PROVIDER:NAME`. */
export interface ModelSpec {
  readonly provider?: string;
  readonly model?: string;
}

/** A prefix is a provider only when there is one of that name: Ollama's own names have colons too. */
export function splitSpec(spec: string, isProvider: (name: string) => boolean): ModelSpec {
  if (isProvider(spec)) return { provider: spec };
  const colon = spec.indexOf(":");
  const prefix = spec.slice(0, Math.max(0, colon));
  if (isProvider(prefix)) return { provider: prefix, model: spec.slice(colon + 1) };
  return { model: spec };
}

/** `--provider openai --model openai:gpt` means the same as `--model gpt` there. */
export function ownModel(provider: string, model: string | undefined): Pick<ModelSpec, "model"> {
  if (model === undefined) return {};
  return { model: model.startsWith(`${provider}:`) ? model.slice(provider.length + 1) : model };
}
