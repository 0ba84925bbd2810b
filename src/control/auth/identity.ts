import type { ClientOptions } from "../connected-client.js";
import type { ClientScope } from "../scope.js";
import type { TokenClaims } from "./claims.js";

/** What a token makes of its holder. */
export function identityOf(claims: TokenClaims): Pick<ClientOptions, "identity" | "canAnswer" | "scope"> {
  const { identity_class: identity, sessions, commands } = claims;
  const scope: ClientScope = {
    ...(sessions !== undefined && { sessions }),
    // The host compares names, so one that it does not know allows nothing.
    ...(commands !== undefined && { commands: commands as NonNullable<ClientScope["commands"]> }),
  };
  return { identity, canAnswer: identity === "human", scope };
}
