/** IP addresses as bytes: 4 of them or 16. Only the canonical spellings are read; other ones were normalised by the URL parser. */

export type AddressBytes = Uint8Array;

/** Nothing when the text is not an address. A zone (`fe80::1%eth0`) makes it none: such an address means something on one machine only. */
export function parseAddress(text: string): AddressBytes | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): AddressBytes | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [index, part] of parts.entries()) {
    // Some programs read a leading zero as octal, others as decimal.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bytes[index] = Number(part);
  }
  return bytes;
}

function parseIpv6(text: string): AddressBytes | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? "", halves.length === 1);
  const tail = groupsOf(halves[1] ?? "", true);
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

/** The 16-bit groups between colons. Only the end of an address may be written as IPv4. */
function groupsOf(text: string, isEnd: boolean): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.includes(".")) {
      const ipv4 = isEnd && index === parts.length - 1 ? parseIpv4(part) : undefined;
      if (ipv4 === undefined) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = ipv4;
      groups.push((a << 8) | b, (c << 8) | d);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(part)) return undefined;
      groups.push(Number.parseInt(part, 16));
    }
  }
  return groups;
}

export interface Network {
  readonly bytes: AddressBytes;
  readonly bits: number;
}

/** `10.0.0.0/8`; an address alone is a network of one. */
export function parseNetwork(text: string): Network {
  const [address = "", bits] = text.split("/");
  const bytes = parseAddress(address);
  if (bytes === undefined) throw new Error(`${text} is not a network`);
  return { bytes, bits: bits === undefined ? bytes.length * 8 : Number(bits) };
}

export function isIn(network: Network, address: AddressBytes): boolean {
  if (network.bytes.length !== address.length) return false;
  const whole = network.bits >> 3;
  for (let index = 0; index < whole; index++) if (network.bytes[index] !== address[index]) return false;
  const rest = network.bits & 7;
  if (rest === 0) return true;
  return (((network.bytes[whole] ?? 0) ^ (address[whole] ?? 0)) & (0xff << (8 - rest)) & 0xff) === 0;
}
