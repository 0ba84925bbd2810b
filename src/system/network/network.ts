/** Requests through proxies, or with additional certificate authorities. */
import type { SecureContext } from "node:tls";
import { readGivenFileSync } from "../given-file.js";
import { parseNoProxy } from "./no-proxy.js";
import { NetworkSettingError, type ProxyAddress, parseProxyAddress } from "./proxy-address.js";

/** A value and the name of the variable or setting it comes from. */
export interface Named {
  readonly value: string;
  readonly origin: string;
}

/** The settings, unparsed. The credential helper gets them as JSON. */
export interface NetworkPlan {
  readonly httpProxy?: Named | undefined;
  readonly httpsProxy?: Named | undefined;
  readonly noProxy?: string | undefined;
  /** Files of certificate authorities to trust in addition to the default ones. */
  readonly authorities?: readonly Named[] | undefined;
  /** Node's own file of the same kind, which Node adds only if no other authorities are given. */
  readonly nodeAuthorities?: string | undefined;
}

export interface Network {
  /** Undefined without a proxy. */
  proxyFor(url: URL): ProxyAddress | undefined;
  /** The first call makes it, which takes a while. Undefined if the default authorities are enough. Rejects with a NetworkSettingError. */
  secureContext(): Promise<SecureContext | undefined>;
}

/** @throws NetworkSettingError */
export function openNetwork(plan: NetworkPlan): Network {
  const [http, https] = [plan.httpProxy, plan.httpsProxy].map((each) =>
    each === undefined ? undefined : parseProxyAddress(each.value, each.origin),
  );
  const isDirect = parseNoProxy(plan.noProxy ?? "");
  let context: Promise<SecureContext | undefined> | undefined;
  return {
    proxyFor: (url) => (isDirect(url) ? undefined : url.protocol === "https:" ? https : http),
    secureContext: () => {
      context ??= makeContext(plan);
      return context;
    },
  };
}

/** Reading a hundred certificates costs more than a request, so only additional ones are read. */
async function makeContext({ authorities = [], nodeAuthorities }: NetworkPlan): Promise<SecureContext | undefined> {
  const others = authorities.filter(({ value }) => value !== nodeAuthorities);
  if (others.length === 0) return undefined;
  const tls = await import("node:tls");
  const known = new Set(tls.rootCertificates.map(bodyOf));
  const isNew = (certificate: string) => !known.has(bodyOf(certificate));
  const own = others.flatMap(certificatesOf).filter(isNew);
  if (own.length === 0) return undefined;
  const extra = nodeAuthorities === undefined ? [] : extraCertificates(nodeAuthorities).filter(isNew);
  return tls.createSecureContext({ ca: [...tls.rootCertificates, ...extra, ...own] });
}

function bodyOf(certificate: string): string {
  return certificate.replace(/-----[A-Z ]+-----|\s/g, "");
}

const CERTIFICATE = /-----BEGIN (TRUSTED )?CERTIFICATE-----[\s\S]+?-----END \1?CERTIFICATE-----/g;

function certificatesOf({ value: path, origin }: Named): readonly string[] {
  let text: string;
  try {
    text = readGivenFileSync(path).toString("latin1");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new NetworkSettingError(`${origin}: cannot read ${path} (${code}).`);
  }
  const found = text.match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new NetworkSettingError(`${origin}: ${path} holds no certificate in PEM format.`);
  return found;
}

/** Node only warns when this file cannot be read. */
function extraCertificates(path: string): readonly string[] {
  try {
    return certificatesOf({ value: path, origin: "NODE_EXTRA_CA_CERTS" });
  } catch {
    return [];
  }
}
