/**
 * The file format of a cassette, documented in docs/testing.md: one JSON object a line, so that it can be read,
 * compared and edited by hand.
 *
 * 1. The first line is the header. An unknown version is refused, an unknown field is ignored.
 * 2. An exchange is written as one line when its answer has ended: a run that is killed leaves whole lines only.
 * 3. A cassette never contains a key. It keeps only listed headers; callers redact texts first.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.js";

export const CASSETTE_VERSION = 1;

export interface CassetteHeader {
  readonly type: "cassette";
  readonly version: number;
  /** The time when it was recorded. */
  readonly recorded: string;
  /** The variables that decided where requests went, with their values. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The model that the run began with. */
export interface CassetteModel {
  readonly type: "model";
  readonly provider: string;
  readonly model: string;
}

/** A provider program: its answer to `--defaults`. */
export interface CassetteProgram {
  readonly type: "program";
  readonly name: string;
  readonly defaults: string;
}

/** A request in the form that a replay compares. */
export interface TapedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/** Milliseconds since the request was sent, and the bytes. Bytes that are not UTF-8 are base64. */
export type TapedChunk = readonly [number, string] | readonly [number, { readonly base64: string }];

export interface TapedError {
  readonly kind: string;
  readonly message: string;
  readonly code?: string;
}

export interface TapedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly TapedChunk[];
}

export interface Exchange {
  /** `call`: a model call. `lookup`: any other request, such as a list of models; a replay may repeat or omit it. */
  readonly type: "call" | "lookup";
  readonly request: TapedRequest;
  /** Absent when there was no answer. */
  readonly response?: TapedResponse;
  /** The error that ended it early. */
  readonly error?: TapedError;
}

export type CassetteLine = CassetteHeader | CassetteModel | CassetteProgram | Exchange;

export interface Cassette {
  readonly header: CassetteHeader;
  readonly model: CassetteModel | undefined;
  readonly programs: readonly CassetteProgram[];
  readonly exchanges: readonly Exchange[];
}

/** The file is not a cassette of this version. The message is one line for the user. */
export class CassetteError extends Error {}

export function cassetteLine(line: CassetteLine): string {
  return `${JSON.stringify(line)}\n`;
}

export function parseCassette(text: string, file: string): Cassette {
  const lines = text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [{ line, number: index + 1 }]));
  const values = lines.map(({ line, number }) => {
    const value = parse(line);
    if (!isJsonObject(value))
      throw new CassetteError(`${file}:${number} is not a line of a cassette: it is not a JSON object.`);
    return { value, number };
  });
  const first = values[0]?.value;
  if (first?.type !== "cassette") throw new CassetteError(`${file} is not a cassette: its first line is not a header.`);
  if (first.version !== CASSETTE_VERSION) {
    throw new CassetteError(
      `${file} is a cassette of version ${JSON.stringify(first.version)}; this Oxbow reads version ${CASSETTE_VERSION}.`,
    );
  }
  let model: CassetteModel | undefined;
  const programs: CassetteProgram[] = [];
  const exchanges: Exchange[] = [];
  for (const { value, number } of values.slice(1)) {
    if (isModel(value)) model ??= value;
    else if (isProgram(value)) programs.push(value);
    else if (isExchange(value)) exchanges.push(value);
    else throw new CassetteError(`${file}:${number} is not a line of a cassette.`);
  }
  const header = { ...first, variables: texts(first.variables) } as unknown as CassetteHeader;
  return { header, model, programs, exchanges };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isModel(value: JsonObject): value is JsonObject & CassetteModel {
  return value.type === "model" && typeof value.provider === "string" && typeof value.model === "string";
}

function isProgram(value: JsonObject): value is JsonObject & CassetteProgram {
  return value.type === "program" && typeof value.name === "string" && typeof value.defaults === "string";
}

function isExchange(value: JsonObject): value is JsonObject & Exchange {
  const { type, request, response, error } = value;
  return (
    (type === "call" || type === "lookup") &&
    isJsonObject(request) &&
    typeof request.method === "string" &&
    typeof request.path === "string" &&
    (response === undefined ? isJsonObject(error) : isResponse(response))
  );
}

function isResponse(value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    typeof value.status === "number" &&
    Array.isArray(value.chunks) &&
    value.chunks.every(isChunk)
  );
}

function isChunk(value: JsonValue): boolean {
  if (!Array.isArray(value) || typeof value[0] !== "number") return false;
  return typeof value[1] === "string" || (isJsonObject(value[1]) && typeof value[1].base64 === "string");
}

function texts(value: JsonValue | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(isJsonObject(value) ? value : {});
  return Object.fromEntries(entries.flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])));
}
