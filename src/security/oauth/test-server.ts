/**
 * Leads every address of the providers to one server on this machine, for tests of the whole program.
 *
 * 1. Only a loopback address is taken, so that a planted variable cannot send a code to another host.
 * 2. The variable counts only during the sign-in: tokens are renewed where they came from.
 */
import type { CredentialEndpoint } from "../credentials/entry.js";
import type { OAuthProvider } from "./providers.js";

/** Throws with one line when the address is not of this machine. */
export function atTestServer(provider: OAuthProvider, server: string): OAuthProvider {
  const root = loopbackOrigin(server);
  if (root === undefined) throw new Error("The test server for sign-ins has to be an http address of this machine.");
  const own = `${root}/${provider.name}`;
  const shared = { tokenUrl: `${own}/token`, api: { ...provider.api, baseUrl: `${own}/api` } };
  if (provider.flow === "device") {
    return { ...provider, ...shared, deviceUrl: `${own}/device`, exchangeUrl: `${own}/exchange` };
  }
  return {
    ...provider,
    ...shared,
    authorizeUrl: `${own}/authorize`,
    redirect: { ...provider.redirect, ports: [] },
    ...(provider.codePage !== undefined && { codePage: `${own}/code` }),
  };
}

/** The provider at the time of these tokens. */
export function whereSignedIn(provider: OAuthProvider, { baseUrl }: CredentialEndpoint): OAuthProvider {
  return loopbackOrigin(baseUrl) === undefined ? provider : atTestServer(provider, baseUrl);
}

function loopbackOrigin(server: string): string | undefined {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  const here = url?.protocol === "http:" && /^(127(\.\d+){3}|localhost|\[::1\])$/.test(url.hostname);
  return here ? url.origin : undefined;
}
