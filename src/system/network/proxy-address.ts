/** Parses the address of an HTTP proxy from a variable or a setting. No message contains its login. */

export interface ProxyAddress {
  /** For people: without the login. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  /** The connection to the proxy itself uses TLS. */
  readonly secure: boolean;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
}

/** A proxy or a certificate file that cannot be used. The message names the setting and never holds a password. */
export class NetworkSettingError extends Error {
  override readonly name = "NetworkSettingError";
}

/** @throws NetworkSettingError. `origin` is the name of the variable or setting. */
export function parseProxyAddress(text: string, origin: string): ProxyAddress {
  const written = text.trim();
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(written)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    throw new NetworkSettingError(`${origin} names a ${scheme} proxy. Only http and https proxies can be used.`);
  }
  const whole = scheme === undefined ? `http://${written}` : written;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  // A slash or # in a password ends the host there; the rest then looks like a path.
  const isProxy =
    url !== undefined && url.hostname !== "" && /^\/?$/.test(url.pathname) && url.search + url.hash === "";
  if (!isProxy) {
    throw new NetworkSettingError(
      `${origin} is not the address of a proxy. Write http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, with special characters of the password as %XX.`,
    );
  }
  const secure = url.protocol === "https:";
  return {
    shown: `${url.protocol}//${url.host}`,
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || (secure ? 443 : 80)),
    secure,
    authorization: authorizationOf(url),
  };
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const login = `${decoded(username)}:${decoded(password)}`;
  return `Basic ${Buffer.from(login).toString("base64")}`;
}

/** A lone % is literal. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
