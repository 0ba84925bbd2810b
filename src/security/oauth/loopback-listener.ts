/**
 * Waits on this machine for the browser to come back from a sign-in (RFC 8252, section 7.3).
 *
 * 1. It listens on 127.0.0.1 alone, and answers only to its own name: a foreign one that was made to resolve to this machine (DNS
 *    rebinding) is refused. No answer allows a page of another origin to read it.
 * 2. One answer is taken. One without our state is refused and changes nothing, so that a page that guesses the port cannot end the
 *    sign-in, and cannot replace the account.
 * 3. The browser gets its page after the code was redeemed, so the page shows the real result.
 * 4. Once closed, no connection is left.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onAbort } from "../../base/abort-tree.js";
import { readAnswer } from "./authorization.js";
import { cancelled, OAuthError } from "./oauth-error.js";
import type { BrowserProvider } from "./providers.js";

export interface LoopbackListener {
  readonly redirectUri: string;
  /** The code of the one answer; rejects with the error in it. */
  code(state: string, signal: AbortSignal): Promise<string>;
  /** The same with the server that it comes from, where that is named (RFC 9207). */
  answer(state: string, signal: AbortSignal): Promise<CodeAnswer>;
  /** Shows the browser how it ended, where one waits, and closes. */
  finish(outcome: "signed-in" | "failed"): Promise<void>;
}

export interface CodeAnswer {
  readonly code: string;
  readonly issuer?: string;
}

const ADDRESS = "127.0.0.1";
/** As registered with the providers: some accept only this name. */
const NAME = "localhost";

export async function listen({
  redirect,
  label,
}: Pick<BrowserProvider, "redirect" | "label">): Promise<LoopbackListener> {
  const server = createServer({ keepAlive: false, requestTimeout: 10_000, headersTimeout: 10_000 });
  const port = await listenOnFirst(server, redirect.ports.length === 0 ? [0] : redirect.ports);
  let waiting: ServerResponse | undefined;
  const firstAnswer = (state: string, signal: AbortSignal) =>
    new Promise<CodeAnswer>((resolve, reject) => {
      const stopListening = onAbort(signal, () => reject(cancelled()));
      server.on("request", (request: IncomingMessage, response: ServerResponse) => {
        const refusal = refusalOf(request, port);
        if (refusal !== undefined) return answer(response, refusal, "Refused.");
        const [path, query] = (request.url ?? "").split("?", 2);
        if (path !== redirect.path) return answer(response, 404, "Not found.");
        if (waiting !== undefined) return answer(response, 409, "The sign-in is already complete.");
        const redirected = readAnswer(new URLSearchParams(query), state);
        if (redirected === "foreign")
          return answer(response, 400, "This answer belongs to another sign-in. Go back to the terminal.");
        stopListening();
        waiting = response;
        if ("code" in redirected) resolve(redirected);
        else reject(redirected.error);
      });
    });
  return {
    redirectUri: `http://${NAME}:${port}${redirect.path}`,
    answer: firstAnswer,
    code: async (state, signal) => (await firstAnswer(state, signal)).code,
    async finish(outcome) {
      const page = outcome === "signed-in" ? `Signed in with ${label}.` : `Not signed in with ${label}.`;
      // The browser may have disconnected.
      if (waiting !== undefined && !waiting.closed) {
        const ended = new Promise((resolve) => waiting?.once("close", resolve));
        answer(
          waiting,
          outcome === "signed-in" ? 200 : 400,
          `${page} You can close this page and go back to the terminal.`,
        );
        await ended;
      }
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

async function listenOnFirst(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host: ADDRESS, port, exclusive: true }, () => {
          server.off("error", reject);
          resolve();
        });
      });
      return (server.address() as AddressInfo).port;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES")
        throw new OAuthError("unexpected", `Cannot listen here: ${message}.`);
    }
  }
  const which = ports.length === 1 ? `port ${ports[0]} is` : `the ports ${ports.join(" and ")} are`;
  throw new OAuthError(
    "port-taken",
    `The sign-in needs a fixed port, and ${which} in use. Stop the other program (another sign-in?), or use --no-browser.`,
  );
}

/** The status to refuse with, when it is not a browser that was sent here. */
function refusalOf({ method, headers }: IncomingMessage, port: number): number | undefined {
  if (headers.host !== `${NAME}:${port}` && headers.host !== `${ADDRESS}:${port}`) return 403;
  if (method !== "GET") return 405;
  // Browsers mark requests by scripts of a page, as opposed to navigation by the user.
  const mode = headers["sec-fetch-mode"];
  return headers.origin !== undefined || (mode !== undefined && mode !== "navigate") ? 403 : undefined;
}

function answer(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(page(message));
}

/** The messages are our own: nothing from a request is in a page. */
function page(message: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Oxbow</title>
<style>body { font: 1.2em system-ui, sans-serif; margin: 20vh auto; max-width: 30em; padding: 0 1em; color-scheme: light dark }</style>
<p>${message}</p>
</html>
`;
}
