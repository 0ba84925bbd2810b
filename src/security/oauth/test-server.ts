/**
 * Leads every address of the providers to one server on this machine, for tests of the whole program.
 *
 * 1. Only a loopback address is taken, so that a variable somebody planted cannot send a token away.
 */
import type { OAuthProvider } from "./providers.js";

/** Throws with one line when the address is not of this machine. */
export function atTestServer(provider: OAuthProvider, server: string): OAuthProvider {
  const root = loopbackOrigin(server);
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

function loopbackOrigin(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol === "http:" && /^(127(\.\d+){3}|localhost|\[::1\])$/.test(url.hostname)) return url.origin;
  throw new Error("The test server for sign-ins has to be an http address of this machine.");
}
