/**
 * What lets a request in, when that is not a key that is known beforehand: one that is stored, a token that has to be exchanged or
 * renewed. The owner of the token gives an endpoint its `authorise`; the rest of a provider does not know it.
 *
 * 1. Asked before each request, so that a token that has run out meanwhile is replaced.
 */
import type { Failure } from "../protocol/errors.js";
import type { HttpClient } from "../system/http-client.js";
import type { Endpoint } from "./http-model.js";

export interface Authorisation {
  /** Sent as the wire sends keys, and kept out of traces and failures. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address that it is for, if it names one. */
  readonly baseUrl?: string;
  /** A client that authorises requests itself, so that no key is known here. */
  readonly http?: HttpClient;
  /** What to call it when it is refused. */
  readonly keyName?: string;
}

export type Authorise = (signal?: AbortSignal) => Promise<Authorisation | { readonly failure: Failure }>;

/** The endpoint with everything a request needs to be let in. */
export async function authorised(
  endpoint: Endpoint,
  signal?: AbortSignal,
): Promise<{ readonly endpoint: Endpoint } | { readonly failure: Failure }> {
  if (endpoint.authorise === undefined) return { endpoint };
  const given = await endpoint.authorise(signal);
  if ("failure" in given) return given;
  return { endpoint: { ...endpoint, ...given, headers: { ...endpoint.headers, ...given.headers } } };
}
