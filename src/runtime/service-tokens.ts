/** The tokens of this user, for a program that does not listen. */
import type { Clock } from "../base/clock.js";
import type { Variables } from "../base/variables.js";
import { Tokens } from "../control/auth/tokens.js";
import { roots } from "../system/xdg-paths.js";

export function serviceTokens(variables: Variables, clock: Clock): Promise<Tokens> {
  return Tokens.open({ stateFolder: roots(variables).state, clock });
}
