/**
 * A wire protocol: how a canonical request is written and how a stream of frames is read. Nothing in a wire touches the
 * network, so a recorded stream replays it exactly.
 *
 * 1. `step` and `end` are pure: the same frames give the same events, however the bytes were cut on their way.
 * 2. A stream ends with exactly one `stop` or one `failure`, as its last event. After `done` no frame is read.
 * 3. Blocks come in the order the model wrote them; text and thinking come as deltas first and once more as their block.
 */
import type { ModelEvent, ModelRequest, ToolSpec } from "../../engine/ports.js";
import type { JsonObject } from "../../protocol/json.js";

/** One message of the stream: a server-sent event, or a line of JSON as `data`. */
export interface Frame {
  readonly event: string;
  readonly data: string;
}

/** Where a request goes, as far as writing it depends on that. */
export interface WireTarget {
  readonly baseUrl: string;
  /** Thinking and opaque blocks of this family are sent back; those of others are dropped. */
  readonly family: string;
  /** The most the model can read and write together, where that is known. */
  readonly maxContextTokens?: number;
  /** Fields of the provider's own, put into the body as they are: `reasoning_effort`, `think`, `temperature`. */
  readonly extra?: JsonObject;
  readonly dialect?: Dialect;
}

/** Where servers that speak one protocol differ. */
export interface Dialect {
  /** What the longest answer is called; `max_tokens` unless the service is OpenAI's own. */
  readonly limit?: "max_tokens" | "max_completion_tokens";
  /** The server rejects a limit for the answer. */
  readonly outputLimit?: "refused";
  /** What the list of models has to be asked with. */
  readonly listQuery?: readonly [name: string, value: string];
  /** Ids of calls that are exactly nine letters and digits. */
  readonly callIds?: "nine";
  /** The server refuses to read what its models thought. */
  readonly thinking?: "kept-back";
  /** A bare host is the whole base URL: there is no `/v1`. */
  readonly unversioned?: true;
}

export interface WireRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** What reading an answer needs to know of the request it belongs to. */
export interface WireContext {
  /** Named in failures. */
  readonly provider: string;
  /** Stamped on thinking and opaque blocks. */
  readonly family: string;
  readonly model: string;
  readonly url: string;
  /** Where the key comes from, for the message of a failure. */
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
  /** The headers that carry a key. */
  authorize(key: string): Readonly<Record<string, string>>;
  encode(request: ModelRequest, target: WireTarget): WireRequest;
  initial(context: WireContext): State;
  step(state: State, frame: Frame): WireStep<State>;
  /** The bytes have ended before `done`. */
  end(state: State): readonly ModelEvent[];
}
