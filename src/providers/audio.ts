/**
 * Decides which audio a model accepts, and what happens to the rest.
 *
 * 1. If the model does not accept audio of the input, the call fails before anything is sent.
 * 2. Earlier audio that it does not accept (after a switch of models) becomes a sentence, always the same one.
 * 3. The wire decides about formats, the catalogue about models. A model that no catalogue lists is not refused: its server decides.
 */
import type { ModelRequest } from "../engine/ports.js";
import { type AudioBlock, type Message, text } from "../protocol/content.js";
import { type Failure, failure } from "../protocol/errors.js";

/** As Chat Completions names them. */
export const CHAT_FORMATS: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/mpeg", "mp3"],
]);

/** By wire; the others have no place for audio. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  "openai-chat": [...CHAT_FORMATS.keys()],
  gemini: ["audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"],
};
/** Of one piece, as base64: no service takes more in a request. */
const MAX_CHARACTERS = 27 * 1024 * 1024;

export interface AudioReader {
  readonly provider: string;
  /** The name of the wire; absent for a model without one. */
  readonly wire?: string;
  /** False if the catalogue says that the model takes none; undefined if it does not know. */
  readonly hears?: boolean | undefined;
}

type Accepted = { readonly request: ModelRequest } | { readonly failure: Failure };

export function acceptAudio(request: ModelRequest, reader: AudioReader): Accepted {
  const newest = request.messages.at(-1);
  for (const block of newest?.role === "user" ? newest.content : []) {
    const problem = block.type === "audio" ? problemOf(block, reader) : undefined;
    if (problem === undefined) continue;
    const detail = `${problem.what}. ${problem.advice}`;
    return { failure: failure("AudioNotAccepted", { model: request.model, detail }) };
  }
  return { request: { ...request, messages: request.messages.map((message) => withoutUnheard(message, reader)) } };
}

function withoutUnheard(message: Message, reader: AudioReader): Message {
  if (message.role === "assistant" || !message.content.some(({ type }) => type === "audio")) return message;
  const content = message.content.map((block) => {
    const problem = block.type === "audio" ? problemOf(block, reader) : undefined;
    return problem === undefined ? block : text(`(Audio was here. You cannot hear it: ${problem.what}.)`);
  });
  return { ...message, content };
}

function problemOf(
  { media_type: type, data }: AudioBlock,
  { provider, wire, hears }: AudioReader,
): { readonly what: string; readonly advice: string } | undefined {
  const types = wire === undefined ? undefined : TYPES[wire];
  const other = "Choose another model with --model, such as one of Gemini or OpenAI that takes audio.";
  if (types === undefined) return { what: `${provider} takes no audio`, advice: other };
  if (hears === false) return { what: "this model takes no audio", advice: other };
  if (!types.includes(type)) {
    const known = types.map((name) => name.replace("audio/", "").replace("mpeg", "mp3")).join(", ");
    return { what: `${provider} does not take ${type}`, advice: `It takes ${known}: convert the file.` };
  }
  if (data.length > MAX_CHARACTERS) return { what: "the audio is larger than 20 MB", advice: "Send a shorter piece." };
  return undefined;
}
