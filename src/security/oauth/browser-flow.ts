/**
 * Signing in through the browser: authorization code with PKCE (RFC 6749, 7636, 8252).
 *
 * 1. The first answer counts: the browser's redirect to this machine or the user's paste. The other one is cancelled.
 * 2. The address is always shown, also when a browser was opened.
 * 3. It ends: by an answer, by the time limit or by the signal. Nothing listens afterwards.
 */

import { AbortNode } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import type { HttpClient } from "../../system/http-client.js";
import type { OAuthTokens } from "../credentials/entry.js";
import { authorizationUrl, readPaste } from "./authorization.js";
import { type LoopbackListener, listen } from "./loopback-listener.js";
import { cancelled, OAuthError } from "./oauth-error.js";
import { newProof, type RandomBytes } from "./pkce.js";
import type { BrowserProvider } from "./providers.js";
import { post, readTokens, send } from "./token-endpoint.js";

export interface Conversation {
  notify(text: string): void;
  /** One line from the user; undefined at the end of the input. Absent without a terminal. */
  ask?(question: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface BrowserFlowOptions {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly signal: AbortSignal;
  readonly person: Conversation;
  /** Opens an address; absent without a browser. */
  readonly open?: (url: string) => void;
  readonly limitMs?: number;
}

const LIMIT_MS = 5 * 60 * 1000;

export async function signInByBrowser(provider: BrowserProvider, options: BrowserFlowOptions): Promise<OAuthTokens> {
  const listener = await openListener(provider, options);
  const node = new AbortNode(options.signal);
  const limitMs = options.limitMs ?? LIMIT_MS;
  const late = new OAuthError(
    "expired",
    `The browser did not finish the sign-in within ${Math.round(limitMs / 60_000)} minutes. Try again.`,
  );
  const stopTimer = options.clock.after(limitMs, () => node.abort(late));
  let outcome: "signed-in" | "failed" = "failed";
  try {
    const tokens = await authorize(provider, { ...options, listener, signal: node.signal });
    outcome = "signed-in";
    return tokens;
  } catch (error) {
    throw node.signal.aborted && !options.signal.aborted ? late : error;
  } finally {
    stopTimer();
    node.abort(cancelled());
    node.dispose();
    await listener?.finish(outcome);
  }
}

/** Without a browser here, the provider's page that shows the code is the shorter way, where there is one. */
async function openListener(
  provider: BrowserProvider,
  { open, person }: BrowserFlowOptions,
): Promise<LoopbackListener | undefined> {
  if (open === undefined && provider.codePage !== undefined) return undefined;
  try {
    return await listen(provider);
  } catch (error) {
    if (open !== undefined || person.ask === undefined) throw error;
    return undefined;
  }
}

async function authorize(
  provider: BrowserProvider,
  options: BrowserFlowOptions & { readonly listener: LoopbackListener | undefined },
): Promise<OAuthTokens> {
  const { listener, http, clock, person, signal } = options;
  const proof = newProof(options.random);
  const redirectUri = listener?.redirectUri ?? provider.codePage ?? registeredRedirect(provider);
  const url = authorizationUrl(provider, proof, redirectUri);
  person.notify(invitation(provider, { url, redirectUri, opened: options.open !== undefined }));
  options.open?.(url);
  const code = await firstCode(provider, { ...options, state: proof.state, redirectUri });
  const fields = {
    grant_type: "authorization_code",
    client_id: provider.clientId,
    code,
    redirect_uri: redirectUri,
    code_verifier: proof.verifier,
    ...(provider.exchangeState === "sent" && { state: proof.state }),
  };
  const reply = await send(post(provider.tokenUrl, fields, provider.tokenBody), { http, signal });
  return readTokens(reply, { host: new URL(provider.tokenUrl).host, now: clock.wall() });
}

interface Waiting extends BrowserFlowOptions {
  readonly listener: LoopbackListener | undefined;
  readonly state: string;
  readonly redirectUri: string;
}

async function firstCode(provider: BrowserProvider, options: Waiting): Promise<string> {
  const { listener, state, signal, person } = options;
  const node = new AbortNode(signal);
  const ways = [
    ...(listener === undefined ? [] : [listener.code(state, node.signal)]),
    ...(person.ask === undefined ? [] : [pastedCode(provider, { ...options, signal: node.signal })]),
  ];
  if (ways.length === 0) {
    throw new OAuthError(
      "refused",
      "There is no terminal to paste the code into. Run the command on a terminal, or on a machine with a browser.",
    );
  }
  try {
    return await Promise.race(ways);
  } finally {
    node.abort(cancelled());
    node.dispose();
    // The slower one ends with the signal; its result is not needed.
    for (const way of ways) way.catch(() => {});
  }
}

async function pastedCode(provider: BrowserProvider, { listener, state, signal, person, redirectUri }: Waiting) {
  const what = redirectUri === provider.codePage ? "the code that the page shows" : "the address the browser ended at";
  for (;;) {
    const line = await person.ask?.(
      `Paste ${what}${listener === undefined ? "" : " (or finish in the browser)"}: `,
      signal,
    );
    if (signal.aborted) throw cancelled();
    // Without more input the redirect may still come; without a listener nothing can.
    if (line === undefined) return listener === undefined ? Promise.reject(cancelled()) : never(signal);
    if (line.trim() === "") continue;
    const pasted = readPaste(line, state);
    if (pasted === "foreign") person.notify("This belongs to another sign-in. Use the address shown last.\n");
    else if (pasted === "unclear") person.notify("Oxbow finds no code in this line. Copy the whole line.\n");
    else if ("code" in pasted) return pasted.code;
    else throw pasted.error;
  }
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(cancelled()), { once: true }));
}

function registeredRedirect({ redirect }: BrowserProvider): string {
  return `http://localhost:${redirect.ports[0] ?? ""}${redirect.path}`;
}

interface Invitation {
  readonly url: string;
  readonly redirectUri: string;
  readonly opened: boolean;
}

function invitation({ label, codePage }: BrowserProvider, { url, redirectUri, opened }: Invitation): string {
  const how = opened ? "Your browser opens; if it does not, go to" : "Open this address in a browser on any machine";
  const after =
    opened || redirectUri === codePage
      ? ""
      : "At the end the browser goes to an address on its own machine. The page may not load: copy the address from the address bar.\n\n";
  return `\nSign in with ${label}. ${how}:\n\n  ${url}\n\n${after}`;
}
