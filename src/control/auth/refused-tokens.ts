/** Logs refused tokens, never the token itself: who tried, and why it was refused. A client that tries all day does not fill the disk. */
import type { Clock } from "../../base/clock.js";
import type { JsonObject } from "../../protocol/json.js";
import { Guesses } from "./guesses.js";

/** Receives what a service reports, by the part that reports it. */
export type ServiceLog = (
  component: "auth" | "control" | "transport.http" | "transport.mcp",
  message: string,
  fields?: JsonObject,
) => void;

export interface RefusedToken {
  /** The address of the client; undefined on a Unix socket. */
  readonly from: string | undefined;
  readonly method: string | undefined;
  /** Only its path is logged: a query may have a token in it. */
  readonly target: string | undefined;
  readonly reason: string;
}

const MOST_PATH = 200;

export function refusedTokenLog(
  clock: Clock,
  log: (message: string, fields: JsonObject) => void,
): (refused: RefusedToken) => void {
  const logged = new Guesses(clock);
  return ({ from = "socket", method = "", target = "", reason }) => {
    if (logged.wrong(from) !== undefined) return;
    const [path = ""] = target.slice(0, MOST_PATH).split("?");
    log("a token was refused", { from, method, path, reason });
  };
}
