/** The one address that a key is for: from the provider's base URL and the way it takes keys. */
import { CredentialError } from "./credential-error.js";
import type { CredentialEndpoint } from "./entry.js";

/** Matches what base URLs may end with although the requests go beside it. */
const TAILS = /\/(chat\/completions|responses|messages|models|v\d+(alpha|beta)?\d*|api)$/;
/** A placeholder key, to find out how a key is sent. */
const PLACE = "{secret}";

export interface BindOptions {
  readonly baseUrl: string;
  readonly authorize: (key: string) => Readonly<Record<string, string>>;
}

export function bindEndpoint({ baseUrl, authorize }: BindOptions): CredentialEndpoint {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CredentialError("refused", `'${baseUrl}' is not an http or https address.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new CredentialError("refused", "The address has a login in it. A key is stored for an address without one.");
  }
  let path = url.pathname.replace(/\/+$/, "");
  while (TAILS.test(path)) path = path.replace(TAILS, "");
  const headers = Object.entries(authorize(PLACE)).map(([name, value]) => [name.toLowerCase(), value]);
  return { baseUrl: `${url.origin}${path}`, headers: Object.fromEntries(headers) };
}

/** Tells whether a key would cross a network that others can read. */
export function isOpenlySent(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
