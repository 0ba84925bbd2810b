/** One request to the engine of this user, over its socket and with the owner's token. */
import { request } from "node:http";
import { UsageError } from "../../base/usage-error.js";
import { controlPlace, isOwnSocket, ownersToken } from "../../control/control-place.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import type { Roots } from "../../system/xdg-paths.js";

export interface EngineAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const PATIENCE_MS = 5000;

/** Undefined if no engine listens. */
export async function askEngine(
  roots: Pick<Roots, "state">,
  {
    method,
    path,
    body,
  }: { readonly method: "GET" | "POST" | "DELETE"; readonly path: string; readonly body?: JsonObject },
): Promise<EngineAnswer | undefined> {
  const place = controlPlace(roots);
  if (!isOwnSocket(place)) throw new UsageError(`${place.socket} does not belong to you.`);
  const token = ownersToken(place);
  const headers = token === undefined ? {} : { "x-oxbow-token": token };
  const socketPath = await place.address();
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers, agent: false, timeout: PATIENCE_MS }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => {
        const value = parse(Buffer.concat(pieces).toString("utf8"));
        resolve({ status: response.statusCode ?? 0, body: isJsonObject(value) ? value : {} });
      });
      response.on("error", reject);
    });
    sent.on("timeout", () => sent.destroy(new Error("The engine does not answer.")));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(undefined);
      else reject(error);
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
