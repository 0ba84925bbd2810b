/**
 * A wire protocol: encodes a canonical request and decodes a stream of frames. A wire never touches the network, so a recorded
 * stream replays exactly.
 *
 * 1. `step` and `end` are pure: the same frames give the same events, however the network splits the bytes.
 * 2. A stream ends with exactly one `stop` or one `failure`, as its last event. After `done` no frame is read.
 * 3. Blocks come in the order the model wrote them; text and thinking come as deltas first and once more as their block.
 */
import type { ModelEvent, ModelRequest, ToolSpec } from "../../engine/ports.js";
import { CANONICAL_FORM_VERSION } from "../../protocol/handshake.js";
import type { JsonObject } from "../../protocol/json.js";

/** One message of the stream: a server-sent event, or a line of JSON as `data`. */
export interface Frame {
  readonly event: string;
  readonly data: string;
}

/** The properties of the destination that affect how a request is encoded. */
export interface WireTarget {
  readonly baseUrl: string;
  /** Thinking and opaque blocks of this family are sent back; those of others are dropped. */
  readonly family: string;
  /** The most the model can read and write together, where that is known. */
  readonly maxContextTokens?: number;
  /** The provider's own fields, added unchanged to the body: `reasoning_effort`, `think`, `temperature`. */
  readonly extra?: JsonObject;
  readonly dialect?: Dialect;
}

/** Describes where servers that speak one protocol differ. */
export interface Dialect {
  /** The field that limits the answer; default: `max_tokens`, except for OpenAI's own service. */
  readonly limit?: "max_tokens" | "max_completion_tokens";
  /** The server rejects a limit for the answer. */
  readonly outputLimit?: "refused";
  /** A query parameter that the list of models needs. */
  readonly listQuery?: readonly [name: string, value: string];
  /** Ids of calls must be exactly nine letters and digits. */
  readonly callIds?: "nine";
  /** The server refuses requests that contain thinking. */
  readonly thinking?: "kept-back";
  /** A bare host is the whole base URL: there is no `/v1`. */
  readonly unversioned?: true;
}

export interface WireRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** Describes what decoding an answer needs to know about its request. */
export interface WireContext {
  /** For failure messages. */
  readonly provider: string;
  /** Set on thinking and opaque blocks. */
  readonly family: string;
  readonly model: string;
  readonly url: string;
  /** The source of the key, for the message of a failure. */
  readonly keyName?: string;
  readonly tools: readonly ToolSpec[];
}

export interface WireStep<State> {
  readonly state: State;
  readonly events: readonly ModelEvent[];
  /** The answer is complete or has failed. */
  readonly done?: true;
}

export interface Wire<State> {
  readonly name: string;
  readonly framing: "sse" | "ndjson";
  /** The version of the canonical messages (`protocol/content.ts`) that it reads and writes. */
  readonly canonicalForm: number;
  /** The headers that carry a key. */
  authorize(key: string): Readonly<Record<string, string>>;
  encode(request: ModelRequest, target: WireTarget): WireRequest;
  initial(context: WireContext): State;
  step(state: State, frame: Frame): WireStep<State>;
  /** The bytes have ended before `done`. */
  end(state: State): readonly ModelEvent[];
}

/** A wire that was written for other messages would send or read them wrongly. */
export function assertCanonicalForm({ name, canonicalForm }: Pick<Wire<unknown>, "name" | "canonicalForm">): void {
  if (canonicalForm === CANONICAL_FORM_VERSION) return;
  throw new Error(
    `${name} is written for version ${canonicalForm} of the canonical messages; Oxbow has ${CANONICAL_FORM_VERSION}`,
  );
}
