/** Models as people write them: `NAME`, `PROVIDER`, or `PROVIDER:NAME`. */
export interface ModelSpec {
  readonly provider?: string;
  readonly model?: string;
}

/** A prefix is a provider only if one of that name exists: Ollama's model names have colons too. */
export function splitSpec(spec: string, isProvider: (name: string) => boolean): ModelSpec {
  if (isProvider(spec)) return { provider: spec };
  const colon = spec.indexOf(":");
  const prefix = spec.slice(0, Math.max(0, colon));
  const name = spec.slice(colon + 1);
  if (isProvider(prefix)) return { provider: prefix, ...(name !== "" && { model: name }) };
  return { model: spec };
}

/** The part before a colon that is not a provider: a mistake, or an Ollama name with a tag. */
export function unknownPrefix(model: string): string | undefined {
  const prefix = /^([^/:]+):./.exec(model)?.[1];
  // OpenAI's prefix for fine-tuned models.
  return prefix === "ft" ? undefined : prefix;
}

/** `7b`, `latest`, `8b-instruct-q4_K_M`, `free`. */
export function hasUsualTag(model: string): boolean {
  return /:(latest|free|e?\d+(\.\d+)?[bm]\b.*|.*\bq\d.*)$/i.test(model);
}

/** `--provider openai --model openai:gpt` means the same as `--model gpt` there. */
export function ownModel(provider: string, model: string | undefined): Pick<ModelSpec, "model"> {
  if (model === undefined) return {};
  return { model: model.startsWith(`${provider}:`) ? model.slice(provider.length + 1) : model };
}

export function isAddress(spec: string): boolean {
  return /^\w+:\/\//.test(spec);
}

export function addressAdvice(address: string): string {
  return `${address} is an address, not a model. Describe the server as a provider (docs/own-provider.md: [providers.NAME] with protocol and url in config.toml), then name its model as NAME:MODEL.`;
}
