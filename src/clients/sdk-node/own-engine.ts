/** Finds the engine of this user on this machine, as the command `oxbow` does. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CONTROL_SOCKET, CONTROL_TOKEN } from "../../base/control-names.js";
import { reachable } from "../../system/socket-path.js";
import { type HomeVariables, roots } from "../../system/xdg-paths.js";
import { ConnectionError } from "../sdk/connection-error.js";

export interface OwnEngine {
  readonly socket: string;
  readonly token: () => string;
}

/**
 * Names the socket and the owner's token, for `connect`. Give it `process.env`: `OXBOW_HOME` and `XDG_STATE_HOME` may move the
 * folder. Throws a ConnectionError if no engine has ever run.
 */
export function ownEngine(variables: HomeVariables = {}): OwnEngine {
  const { state } = roots(variables);
  const path = join(state, CONTROL_TOKEN);
  // An engine renews the token, so it is read for each request.
  const token = () => {
    try {
      return readFileSync(path, "utf8").trim();
    } catch {
      const message = `There is no token in ${path}. Start an engine: open 'oxbow' in a terminal, or run 'oxbow serve'.`;
      throw new ConnectionError({ reason: "NetworkFailed", message, retryable: true });
    }
  };
  token();
  return { socket: reachable(state, CONTROL_SOCKET), token };
}
