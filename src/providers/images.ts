/**
 * Decides which images a model accepts, and what happens to the others.
 *
 * 1. If the model does not accept an image of the input, the call fails before anything is sent: an answer that ignores the image
 *    would be wrong.
 * 2. Any other image that it does not accept (from a tool, or from before a switch of models) becomes a sentence, always the same
 *    one.
 * 3. Limits are those of the provider's own service; a server that merely speaks its protocol knows its own.
 */
import type { ModelRequest } from "../engine/ports.js";
import { hasImages, type ImageBlock, type Message, type ResultContent, text } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";
import type { HttpClient } from "../system/http-client.js";

export interface ImageRules {
  /** False when the model is known to read nothing but text. */
  readonly sees: boolean;
  /** Default: all types. */
  readonly types?: readonly string[];
  /** Of one image, as base64. */
  readonly maxCharacters?: number;
}

/** Models known to read only text. Unknown models are not refused: their server decides. */
const TEXT_ONLY =
  /^(gpt-3\.5|gpt-4(-\d{4}|-32k|-0314|-0613)?$|gpt-4-\d{4}-preview$|o1-(mini|preview)|o3-mini|gpt-oss|claude-(2|instant)|deepseek-(chat|reasoner|coder)|text-|codex-mini)/;

const COMMON_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MEGABYTE = 1024 * 1024;

/** By family: the limits of the provider's own service. */
const SERVICES: Readonly<Record<string, Omit<ImageRules, "sees">>> = {
  anthropic: { types: COMMON_TYPES, maxCharacters: 5 * MEGABYTE },
  openai: { types: COMMON_TYPES, maxCharacters: 50 * MEGABYTE },
  gemini: {
    types: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    maxCharacters: 100 * MEGABYTE,
  },
};

export function imageRules(family: string, model: string): ImageRules {
  return { sees: !TEXT_ONLY.test(model.split("/").at(-1) ?? model), ...SERVICES[family] };
}

export interface ImageReader {
  readonly wire: { readonly name: string };
  readonly endpoint: { readonly family: string; readonly baseUrl: string };
  readonly http: HttpClient;
  readonly signal: AbortSignal;
}

type Accepted = { readonly request: ModelRequest } | { readonly failure: Failure };

export async function acceptImages(request: ModelRequest, reader: ImageReader): Promise<Accepted> {
  const rules = imageRules(reader.endpoint.family, request.model);
  const blind = rules.sees && reader.wire.name === "ollama" && (await isBlind(request.model, reader));
  return applyRules(request, blind ? { ...rules, sees: false } : rules);
}

/** Ollama reports what each model can do; old servers do not. */
async function isBlind(model: string, { endpoint, http, signal }: ImageReader): Promise<boolean> {
  const { showOllamaModel } = await import("./ollama/api.js");
  const shown = await showOllamaModel(endpoint.baseUrl, model, { http, signal });
  return shown.ok && shown.details.capabilities.length > 0 && !shown.details.capabilities.includes("vision");
}

export function applyRules(request: ModelRequest, rules: ImageRules): Accepted {
  const newest = request.messages.at(-1);
  for (const block of newest?.role === "user" ? newest.content : []) {
    const problem = block.type === "image" ? problemOf(block, rules) : undefined;
    if (problem === undefined) continue;
    return {
      failure: failure("ImageNotAccepted", { model: request.model, detail: `${problem.what}. ${problem.advice}` }),
    };
  }
  return { request: { ...request, messages: request.messages.map((message) => withoutUnseen(message, rules)) } };
}

function withoutUnseen(message: Message, rules: ImageRules): Message {
  if (message.role === "assistant" || !hasImages([message])) return message;
  const content = message.content.map((block) => {
    if (block.type === "text" || block.type === "audio") return block;
    if (block.type === "image") return seen(block, rules);
    return { ...block, content: block.content.map((part) => seen(part, rules)) };
  });
  return { ...message, content };
}

function seen(block: ResultContent, rules: ImageRules): ResultContent {
  const problem = block.type === "image" ? problemOf(block, rules) : undefined;
  return problem === undefined ? block : text(`(An image was here. You cannot see it: ${problem.what}.)`);
}

function problemOf(
  { media_type: type, data }: ImageBlock,
  { sees, types, maxCharacters }: ImageRules,
): { readonly what: string; readonly advice: string } | undefined {
  if (!sees) return { what: "this model reads only text", advice: "Choose another one with --model." };
  if (types !== undefined && !types.includes(type)) {
    const others = types.map((name) => name.replace("image/", "")).join(", ");
    return { what: `this model does not take ${type}`, advice: `It takes ${others}: convert the image.` };
  }
  if (maxCharacters !== undefined && data.length > maxCharacters) {
    const size = `${megabytes(data.length)} MB, and the limit is ${megabytes(maxCharacters)} MB`;
    return { what: `the image has ${size}`, advice: "Make a smaller copy." };
  }
  return undefined;
}

/** The size of the image itself; base64 makes it a third longer. */
function megabytes(characters: number): string {
  return ((characters * 3) / 4 / MEGABYTE).toFixed(1);
}
