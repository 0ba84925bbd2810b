/** One request to the engine of this user, over its socket and with the owner's token. */
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { ownerTokenFile } from "../../control/auth/tokens.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { controlSocket } from "../../runtime/serve.js";
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
  const token = await readFile(ownerTokenFile(roots.state), "utf8").catch(() => undefined);
  const headers = token === undefined ? {} : { "x-oxbow-token": token.trim() };
  return new Promise((resolve, reject) => {
    const socketPath = controlSocket(roots);
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
