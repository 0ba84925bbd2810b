/**
 * Decides whether a URL may be fetched, as far as that is known without a lookup.
 *
 * 1. There is one parser, the WHATWG one: the URL that was judged is the URL object that is used afterwards, never its text.
 *    It turns decimal, octal, hexadecimal, full-width and percent-encoded spellings of an address into the usual one.
 * 2. User names, passwords and fragments are removed: they are never sent, and never shown in a way that looks like the host.
 */
import { type AddressClass, classifyAddress } from "./classify-address.js";
import { problemOfName } from "./host-name.js";
import { parseAddress } from "./ip-address.js";
import { bareHost, type NetPolicy, PUBLIC_ONLY } from "./net-policy.js";

/** Describes how far a connection may go: `private` takes in private networks and this machine, and nothing forbidden. */
export type Reach = "public" | "private";

export interface AllowedUrl {
  readonly allowed: true;
  readonly url: URL;
  /** Without brackets. */
  readonly host: string;
  readonly reach: Reach;
  /** The host is an address already. */
  readonly isLiteral: boolean;
}

export interface RefusedUrl {
  readonly allowed: false;
  readonly problem: "malformed" | "refused";
  /** A sentence without its full stop. */
  readonly reason: string;
}

export type UrlVerdict = AllowedUrl | RefusedUrl;

const MAX_LENGTH = 8192;

/** Ports at which no web server listens: the list browsers keep, and databases that would read a request as commands. */
const CLOSED_PORTS = new Set(
  (
    "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 " +
    "137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 " +
    "1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080 " +
    "1433 1521 3306 5432 6379 11211 27017"
  )
    .split(" ")
    .map(Number),
);

export function checkUrl(text: string, policy: NetPolicy = PUBLIC_ONLY): UrlVerdict {
  if (text.length > MAX_LENGTH) return malformed(`the address is longer than ${MAX_LENGTH} characters`);
  if (!URL.canParse(text)) return malformed("this is not a complete address, such as https://example.com/page");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refused(`only http and https addresses can be fetched, not ${url.protocol}`);
  }
  url.username = "";
  url.password = "";
  url.hash = "";
  // Certificates and servers know the name without the dot of the root.
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (CLOSED_PORTS.has(port)) return refused(`port ${port} is not for web pages`);
  return checkHost(url, policy.allowsPrivate(bareHost(url), port) ? "private" : "public");
}

function checkHost(url: URL, reach: Reach): UrlVerdict {
  const host = bareHost(url);
  const isLiteral = parseAddress(host) !== undefined;
  if (isLiteral) {
    const verdict = classifyAddress(host);
    if (!isWithin(reach, verdict)) return refused(`${host} ${verdict.reason}`);
  } else if (reach === "public") {
    const problem = problemOfName(host);
    if (problem !== undefined) return refused(`${host || "the host"} ${problem}`);
  }
  return { allowed: true, url, host, reach, isLiteral };
}

export function isWithin(reach: Reach, { kind }: AddressClass): boolean {
  return kind === "public" || (reach === "private" && kind !== "forbidden");
}

function malformed(reason: string): RefusedUrl {
  return { allowed: false, problem: "malformed", reason };
}

function refused(reason: string): RefusedUrl {
  return { allowed: false, problem: "refused", reason };
}
