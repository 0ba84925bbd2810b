/**
 * A scenario as data: what clients send, and what a server must answer.
 *
 * A text that begins with `$` is a variable, which a step before has saved. What a step expects is a part of the answer: an object may
 * have more fields, a list may not have more items. `{ $type }`, `{ $contains }`, `{ $matches }`, `{ $absent: true }` and `{ $not }` stand for
 * values that are not known before.
 */
import type { Identity } from "../../../protocol/client.js";
import type { JsonObject, JsonValue } from "../../../protocol/json.js";
import type { Ability, OtherToken } from "./transport.js";

export interface Scenario {
  /** Small letters and hyphens. It does not change: reports are compared by it. */
  readonly name: string;
  /** Says what a server must do, in one sentence. */
  readonly rule: string;
  /** The protocol version that has the rule. */
  readonly since: string;
  /** It counts only for a server whose handshake has this feature. */
  readonly feature?: string;
  readonly needs?: readonly Ability[];
  readonly steps: readonly Step[];
}

/** Describes where the value of a reply or event goes: the name of a variable, and the path to the value. */
export type Save = Readonly<Record<string, string>>;

export type Step =
  /** `hello: null` connects without a handshake. */
  | {
      readonly do: "connect";
      readonly as: string;
      readonly identity?: Identity;
      readonly token?: OtherToken;
      readonly hello?: JsonObject | null;
      readonly expect?: JsonValue;
      readonly save?: Save;
    }
  | { readonly do: "handshake"; readonly by: string; readonly hello: JsonObject; readonly expect: JsonValue }
  | {
      readonly do: "command" | "query";
      readonly by: string;
      /** `kind`, `session`, `payload` or `request`. */
      readonly body: JsonObject;
      readonly expect?: JsonValue;
      readonly save?: Save;
    }
  /** Several commands at once; each must have the expected reply. */
  | { readonly do: "race"; readonly sends: readonly { readonly by: string; readonly body: JsonObject }[] }
  /** `after`: a number, a variable, or `last`, the last event that this client got of the session. */
  | {
      readonly do: "follow";
      readonly by: string;
      readonly session: string;
      readonly after?: number | string;
      /** The time of that event. */
      readonly at?: string;
      readonly expect?: JsonValue;
    }
  | { readonly do: "unfollow"; readonly by: string; readonly session: string }
  | { readonly do: "drop"; readonly by: string }
  /** Waits for the next event that fits, after the one that was waited for last. */
  | { readonly do: "wait"; readonly by: string; readonly event: JsonObject; readonly save?: Save }
  /** A check of everything that the named clients got so far. */
  | { readonly do: "check"; readonly that: CheckName; readonly of: readonly string[]; readonly value?: JsonValue };

export type CheckName =
  | "no event is missing"
  | "no event comes twice"
  | "events come in order"
  | "events have the envelope"
  | "all got the same"
  | "events have the originator"
  | "events belong to the session"
  | "event kinds are announced"
  | "the answer is whole"
  | "there is no event"
  | "the first event is"
  | "one turn at a time";

export const VERSION_OF_SUITE = "0.2.0";
