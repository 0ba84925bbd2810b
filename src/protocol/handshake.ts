/** How an engine identifies itself before any other message. */
import { COMMAND_KINDS } from "./commands.js";
import { EVENT_KINDS } from "./events.js";

export const PROTOCOL_VERSION = "0.1.0";
/** Version of the canonical message form in `content.ts`. */
export const CANONICAL_FORM_VERSION = 1;

export interface Handshake {
  readonly protocol_version: string;
  readonly canonical_form_version: number;
  readonly command_kinds: readonly string[];
  readonly event_kinds: readonly string[];
  readonly features: readonly string[];
}

export function handshake(features: readonly string[]): Handshake {
  return {
    protocol_version: PROTOCOL_VERSION,
    canonical_form_version: CANONICAL_FORM_VERSION,
    command_kinds: COMMAND_KINDS,
    event_kinds: EVENT_KINDS,
    features,
  };
}
