/**
 * Authorises a request when the key is not known in advance: a stored key, or a token that must be exchanged or renewed. The owner
 * of the token gives an endpoint its `authorise`; the rest of a provider does not know it.
 *
 * 1. Every request calls it, so that an expired token is replaced.
 */
import type { Failure } from "../protocol/errors.js";
import type { HttpClient } from "../system/http-client.js";
import type { Endpoint } from "./http-model.js";

export interface Authorisation {
  /** Sent as the wire sends keys, and kept out of traces and failures. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address that the key is for, if it has one. */
  readonly baseUrl?: string;
  /** A client that authorises requests itself, so that no key is known here. */
  readonly http?: HttpClient;
  /** Its name in the message when the provider refuses it. */
  readonly keyName?: string;
}

export type Authorise = (signal?: AbortSignal) => Promise<Authorisation | { readonly failure: Failure }>;

/** The endpoint with the key or client that authorises requests. */
export async function authorised(
  endpoint: Endpoint,
  signal?: AbortSignal,
): Promise<{ readonly endpoint: Endpoint } | { readonly failure: Failure }> {
  if (endpoint.authorise === undefined) return { endpoint };
  const given = await endpoint.authorise(signal);
  if ("failure" in given) return given;
  return { endpoint: { ...endpoint, ...given, headers: { ...endpoint.headers, ...given.headers } } };
}
