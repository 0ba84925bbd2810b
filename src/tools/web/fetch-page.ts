/**
 * One page from the network.
 *
 * 1. Each hop is admitted by the guard before a connection is made, and the connection goes to the address that was admitted.
 * 2. Redirects are followed within a site only. A redirect to another site is reported, not followed: the user allowed only this site.
 * 3. A fetch ends within its time limit. It sends only the request for the page: no credentials, no cookies.
 */
import { AbortNode } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import type { HttpClient, HttpResponse } from "../../system/http-client.js";
import { HttpError } from "../../system/http-error.js";
import { refuseUnreadable } from "./content-kind.js";
import { FetchError } from "./fetch-error.js";
import { ACCEPTED_ENCODINGS, type Body, readBody } from "./read-body.js";
import type { WebGuard } from "./web-guard.js";

export interface FetchLimits {
  readonly bodyBytes: number;
  readonly redirects: number;
  readonly connectMs: number;
  readonly idleMs: number;
  readonly totalMs: number;
}

export const USUAL_LIMITS: FetchLimits = {
  bodyBytes: 5 * 1024 * 1024,
  redirects: 5,
  connectMs: 10_000,
  idleMs: 15_000,
  totalMs: 45_000,
};

export interface FetchServices {
  readonly guard: WebGuard;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly limits: FetchLimits;
}

export interface FetchedPage extends Body {
  readonly kind: "page";
  readonly url: URL;
  readonly status: number;
  readonly contentType: string;
}

export interface ForeignRedirect {
  readonly kind: "redirect";
  readonly url: URL;
  readonly status: number;
  readonly target: string;
}

const ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";

/** @throws FetchError; anything else when the signal fired. */
export async function fetchPage(
  services: FetchServices,
  address: string,
  signal: AbortSignal,
): Promise<FetchedPage | ForeignRedirect> {
  const { totalMs } = services.limits;
  const node = new AbortNode(signal);
  const late = new FetchError(`It took longer than ${totalMs / 1000} seconds and was stopped.`);
  const stopTimer = services.clock.after(totalMs, () => node.abort(late));
  try {
    return await follow(services, address, node.signal);
  } catch (error) {
    if (signal.aborted) throw error;
    if (node.signal.aborted) throw late;
    throw error instanceof HttpError ? new FetchError(networkProblem(error)) : error;
  } finally {
    stopTimer();
    node.dispose();
  }
}

async function follow(services: FetchServices, address: string, signal: AbortSignal) {
  let next = address;
  let cameFrom: URL | undefined;
  for (let hops = 0; hops <= services.limits.redirects; hops++) {
    const admission = await services.guard.admit(next, signal);
    if (!admission.allowed) throw new FetchError(refusal(admission.reason, cameFrom));
    const { url } = admission;
    const response = await request(services, admission, signal);
    const target = redirectTarget(response, url);
    if (target === undefined) return page(services, url, response);
    response.destroy();
    if (!isSameSite(url, target)) return foreign(services, { url, status: response.status, target });
    next = target;
    cameFrom = url;
  }
  throw new FetchError(`It redirects more than ${services.limits.redirects} times.`);
}

function request(
  { http, userAgent, limits }: FetchServices,
  { url, lookup }: Extract<Awaited<ReturnType<WebGuard["admit"]>>, { allowed: true }>,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const headers = { "user-agent": userAgent, accept: ACCEPT, "accept-encoding": ACCEPTED_ENCODINGS };
  const timeouts = { connectMs: limits.connectMs, idleMs: limits.idleMs };
  return http.request({ method: "GET", url: url.href, headers, signal, timeouts, lookup });
}

async function page({ limits }: FetchServices, url: URL, response: HttpResponse): Promise<FetchedPage> {
  const { status, headers } = response;
  const contentType = headers["content-type"] ?? "";
  try {
    refuseUnreadable(contentType);
  } catch (error) {
    response.destroy();
    throw status < 400 ? error : new FetchError(`The server answered HTTP ${status}.`);
  }
  return { kind: "page", url, status, contentType, ...(await readBody(response, limits.bodyBytes)) };
}

function foreign(
  { guard }: FetchServices,
  { url, status, target }: { url: URL; status: number; target: string },
): ForeignRedirect {
  const verdict = guard.check(target);
  if (!verdict.allowed) throw new FetchError(refusal(verdict.reason, url));
  return { kind: "redirect", url, status, target: verdict.url.href };
}

/** The address as the server sent it, if it is valid. */
function redirectTarget({ status, headers }: HttpResponse, url: URL): string | undefined {
  const { location } = headers;
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return undefined;
  // Node reads headers as Latin-1; addresses in them are UTF-8.
  const target = Buffer.from(location, "latin1").toString("utf8");
  if (!URL.canParse(target, url.href)) throw new FetchError("It redirects to something that is not an address.");
  return new URL(target, url.href).href;
}

/** The same host, with or without `www.`, on the same port, or on https instead of http. */
function isSameSite(from: URL, to: string): boolean {
  const target = new URL(to);
  const bare = ({ hostname }: URL) => hostname.replace(/\.$/, "").replace(/^www\./, "");
  if (bare(from) !== bare(target)) return false;
  if (from.protocol === target.protocol) return from.port === target.port;
  return target.protocol === "https:" && from.port === "" && target.port === "";
}

function refusal(reason: string, cameFrom: URL | undefined): string {
  const where = cameFrom === undefined ? "" : `${cameFrom.host} redirects to a blocked address: `;
  return `Not fetched: ${where}${reason}. Only the public internet can be reached, and hosts that the user has allowed in the settings.`;
}

function networkProblem({ message, code }: HttpError): string {
  if (code === "HPE_HEADER_OVERFLOW") return "The headers of the answer are too long.";
  return `The page could not be fetched: ${message}.`;
}
