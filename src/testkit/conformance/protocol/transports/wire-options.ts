/** Describes what all transports on a wire need: an address and tokens. */
import type { Identity } from "../../../../protocol/client.js";
import type { Ability, OtherToken } from "../transport.js";

export interface WireOptions {
  readonly tokens: Readonly<Partial<Record<Identity, string>>>;
}

export interface WireAddress {
  readonly socketPath?: string;
  readonly host?: string;
  readonly port?: number;
  readonly secure?: boolean;
  /** The certificate that the server's one is checked against. */
  readonly ca?: string;
}

export function abilitiesOf({ tokens }: WireOptions): ReadonlySet<Ability> {
  const { human, agent } = tokens;
  return new Set<Ability>(["many", ...(agent ? (["agent"] as const) : []), ...(human ? (["tokens"] as const) : [])]);
}

/** An agent without a token of its own uses that of the human. */
export function tokenFor(
  { tokens }: WireOptions,
  { identity, other }: { readonly identity: Identity; readonly other?: OtherToken | undefined },
): string | undefined {
  if (other === "missing") return undefined;
  const token = tokens[identity] ?? tokens.human;
  return other === "forged" ? token && forged(token) : token;
}

/** The same text with another character near its end, where a signature is. */
function forged(token: string): string {
  const at = token.length - 3;
  return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
}
