import type { ClientOptions } from "../connected-client.js";
import type { ClientScope } from "../scope.js";
import type { TokenClaims } from "./claims.js";

/** The claims that say what a holder may do. */
export type IdentityClaims = Pick<TokenClaims, "identity_class" | "sessions" | "folders" | "commands">;

/** Tells what a token makes of its holder. */
export function identityOf(claims: IdentityClaims): Pick<ClientOptions, "identity" | "canAnswer" | "scope"> {
  const { identity_class: identity, sessions, commands } = claims;
  // An agent that could choose any folder would edit files there that no person offered it.
  const folders = claims.folders ?? (identity === "agent" && sessions === undefined ? "default" : undefined);
  const scope: ClientScope = {
    ...(sessions !== undefined && { sessions }),
    ...(folders !== undefined && { folders }),
    // The host compares names, so one that it does not know allows nothing.
    ...(commands !== undefined && { commands: commands as NonNullable<ClientScope["commands"]> }),
  };
  return { identity, canAnswer: identity === "human", scope };
}
