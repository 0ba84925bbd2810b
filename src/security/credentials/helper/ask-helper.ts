/** One question to the helper about itself. */
import { request as httpRequest } from "node:http";
import { type HelperEndpoint, TOKEN_HEADER } from "./helper-protocol.js";

const ASK_MS = 2000;

export interface HelperQuestion {
  readonly socketPath: string;
  readonly endpoint: HelperEndpoint;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
}

/** Undefined when no helper answers. */
export function askHelper(question: HelperQuestion): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { socketPath, endpoint, method, path, body = "" } = question;
  return new Promise((resolve) => {
    const headers = {
      [TOKEN_HEADER]: endpoint.token,
      ...(body !== "" && { "content-length": Buffer.byteLength(body) }),
    };
    const request = httpRequest({ socketPath, method, path, headers, agent: false, timeout: ASK_MS }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => {
        try {
          resolve(response.statusCode === 200 ? JSON.parse(text) : undefined);
        } catch {
          resolve(undefined);
        }
      });
      response.on("error", () => resolve(undefined));
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(undefined));
    request.end(body);
  });
}
