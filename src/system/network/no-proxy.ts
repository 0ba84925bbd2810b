/**
 * Decides which hosts bypass the proxy: `NO_PROXY`, with the rules of curl and most other programs.
 *
 * 1. Entries are separated by commas or spaces: `example.com` (with everything below it), `.example.com`, `*.example.com`,
 *    `host:8080` (this port alone), `10.1.2.3`, `[::1]:8080`, `10.0.0.0/8`, `fd00::/8`, `192.168.*`, or `*` for all.
 * 2. Networks match addresses, without a DNS lookup.
 * 3. Connections to this machine never use a proxy.
 */
import { BlockList, isIP } from "node:net";

export type HostMatcher = (url: URL) => boolean;

export function parseNoProxy(text: string): HostMatcher {
  const rules = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map(parseEntry);
  return (url) => {
    const host = hostOf(url);
    const port = url.port || (url.protocol === "https:" ? "443" : "80");
    return isThisMachine(host) || rules.some((rule) => rule(host, port));
  };
}

type Rule = (host: string, port: string) => boolean;

const NEVER: Rule = () => false;

function parseEntry(entry: string): Rule {
  if (entry === "*") return () => true;
  if (entry.includes("/")) return networkRule(entry);
  const [, name = "", wantedPort] = isIP(entry) === 6 ? [entry, entry] : splitPort(entry);
  const matches = nameRule(name.replace(/^\[(.*)\]$/, "$1"));
  return (host, port) => (wantedPort === undefined || wantedPort === port) && matches(host);
}

function splitPort(entry: string): readonly (string | undefined)[] {
  return /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
}

function nameRule(name: string): (host: string) => boolean {
  const family = isIP(name);
  if (family !== 0) return networkRule(`${name}/${family === 4 ? 32 : 128}`) as (host: string) => boolean;
  const bare = asciiName(name.replace(/^\*?\./, ""));
  if (bare === "") return () => false;
  if (bare.includes("*")) {
    const pattern = new RegExp(`^${bare.split("*").map(escaped).join(".*")}$`);
    return (host) => pattern.test(host);
  }
  return (host) => host === bare || host.endsWith(`.${bare}`);
}

function networkRule(entry: string): Rule {
  const [address = "", bits = ""] = entry.split("/");
  const family = isIP(address.replace(/^\[(.*)\]$/, "$1"));
  if (family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return NEVER;
  const list = new BlockList();
  list.addSubnet(address.replace(/^\[(.*)\]$/, "$1"), Number(bits), family === 4 ? "ipv4" : "ipv6");
  return (host) => {
    const own = isIP(host);
    return own !== 0 && list.check(host, own === 4 ? "ipv4" : "ipv6");
  };
}

/** As in a URL: in lower case, other alphabets as Punycode, without a trailing dot. */
function asciiName(name: string): string {
  const plain = name.toLowerCase().replace(/\.$/, "");
  if (plain.includes("*") || !URL.canParse(`http://${plain}/`)) return plain;
  return new URL(`http://${plain}/`).hostname;
}

function hostOf({ hostname }: URL): string {
  return hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}

const OWN_ADDRESSES = new BlockList();
OWN_ADDRESSES.addSubnet("127.0.0.0", 8, "ipv4");
OWN_ADDRESSES.addAddress("0.0.0.0", "ipv4");
OWN_ADDRESSES.addAddress("::1", "ipv6");
OWN_ADDRESSES.addAddress("::", "ipv6");

function isThisMachine(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === "localhost" || host.endsWith(".localhost");
  return OWN_ADDRESSES.check(host, family === 4 ? "ipv4" : "ipv6");
}

function escaped(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
}
