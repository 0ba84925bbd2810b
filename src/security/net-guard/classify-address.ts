/**
 * Decides which addresses belong to the public internet.
 *
 * 1. Addresses that are not known to be public are refused: of IPv6 only 2000::/3 is assigned, and an invalid address is refused.
 * 2. The tables follow IANA's special-purpose registries, with a few addresses where clouds serve credentials.
 * 3. An IPv6 address that contains an IPv4 address is judged by the IPv4 address. The obsolete forms (IPv4-compatible, 6to4, Teredo,
 *    ISATAP) are refused.
 */
import { type AddressBytes, isIn, type Network, parseAddress, parseNetwork } from "./ip-address.js";

export type AddressKind =
  | "public"
  /** This machine. */
  | "loopback"
  /** A private network. */
  | "private"
  /** Refused even if the user allowed the host: metadata services, link-local, multicast, reserved. */
  | "forbidden";

export interface AddressClass {
  readonly allowed: boolean;
  readonly kind: AddressKind;
  /** Completes the sentence "ADDRESS …". */
  readonly reason: string;
}

type Row = readonly [networks: string, kind: AddressKind, reason: string];

const METADATA = "is where a cloud hands out credentials";

const IPV4: readonly Row[] = [
  ["169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16", "forbidden", METADATA],
  ["127.0.0.0/8", "loopback", "is this machine"],
  ["10.0.0.0/8 172.16.0.0/12 192.168.0.0/16", "private", "is in a private network"],
  ["100.64.0.0/10", "private", "is in a provider's inner network"],
  ["169.254.0.0/16", "forbidden", "is link-local"],
  ["0.0.0.0/8", "forbidden", "means this network"],
  ["192.0.0.0/24", "forbidden", "is set aside for protocols"],
  ["192.0.2.0/24 198.51.100.0/24 203.0.113.0/24", "forbidden", "is for documentation only"],
  ["192.88.99.0/24", "forbidden", "is an obsolete relay address"],
  ["198.18.0.0/15", "forbidden", "is for benchmarks"],
  ["224.0.0.0/4", "forbidden", "is a multicast address"],
  ["240.0.0.0/4", "forbidden", "is reserved"],
];

const IPV6: readonly Row[] = [
  ["fd00:ec2::254 fd00:ec2::23 fd20:ce::254", "forbidden", METADATA],
  ["::1", "loopback", "is this machine"],
  ["fc00::/7", "private", "is in a private network"],
  ["fe80::/10", "forbidden", "is link-local"],
  ["fec0::/10", "forbidden", "is site-local"],
  ["ff00::/8", "forbidden", "is a multicast address"],
  ["2001:db8::/32 3fff::/20", "forbidden", "is for documentation only"],
  ["2001::/32", "forbidden", "is a Teredo address, which leads to an IPv4 address inside it"],
  ["2001::/23", "forbidden", "is set aside for protocols"],
  ["2002::/16", "forbidden", "is a 6to4 address, which leads to an IPv4 address inside it"],
  ["2000::/3", "public", "is public"],
  ["::/0", "forbidden", "is not a public IPv6 address"],
];

const PUBLIC: AddressClass = { allowed: true, kind: "public", reason: "is public" };

interface Range {
  readonly network: Network;
  readonly verdict: AddressClass;
}

/** The first range that holds an address decides. */
const RANGES: readonly Range[] = [...IPV4, ...IPV6].flatMap(([networks, kind, reason]) =>
  networks
    .split(" ")
    .map((text) => ({ network: parseNetwork(text), verdict: { allowed: kind === "public", kind, reason } })),
);

/** IPv4-mapped, and the well-known NAT64 prefix that resolvers of IPv6-only networks use. */
const CARRIERS = ["::ffff:0:0/96", "64:ff9b::/96"].map(parseNetwork);

export function classifyAddress(text: string): AddressClass {
  const address = parseAddress(text);
  if (address === undefined) return { allowed: false, kind: "forbidden", reason: "is not an IP address" };
  return classify(CARRIERS.some((carrier) => isIn(carrier, address)) ? address.subarray(12) : address);
}

function classify(address: AddressBytes): AddressClass {
  if (isIsatap(address)) return { allowed: false, kind: "forbidden", reason: "is a tunnel address (ISATAP)" };
  return RANGES.find(({ network }) => isIn(network, address))?.verdict ?? PUBLIC;
}

function isIsatap(address: AddressBytes): boolean {
  return (
    address.length === 16 &&
    ((address[8] ?? 1) & 0xfd) === 0 &&
    address[9] === 0 &&
    address[10] === 0x5e &&
    address[11] === 0xfe
  );
}
