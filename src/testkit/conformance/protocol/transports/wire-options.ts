/** What all transports on a wire need: an address and tokens. */
import type { Identity } from "../../../../protocol/client.js";
import type { Ability } from "../transport.js";

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
  return new Set<Ability>(tokens.agent === undefined ? ["many"] : ["many", "agent"]);
}
