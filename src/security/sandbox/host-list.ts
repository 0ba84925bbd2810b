/**
 * Which hosts a sandboxed command may reach, by name.
 *
 * 1. An entry is a name (`example.com`: that host alone), a suffix (`*.example.com`: every host below, not the domain itself), or
 *    either with `:port`. Without a port it means 80 and 443.
 * 2. Names are compared without letter case and without the final dot. Addresses in digits are never names.
 */
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { SandboxError } from "./policy.js";

export interface HostEntry {
  readonly host: string;
  readonly below: boolean;
  readonly ports: readonly number[];
}

const WEB_PORTS = [80, 443];

export function parseHostList(entries: readonly string[]): HostEntry[] {
  return entries.map(parseEntry);
}

function parseEntry(entry: string): HostEntry {
  const [, star, name = "", port] = /^(\*\.)?([^:/*\s]+)(?::(\d+))?$/.exec(entry.trim()) ?? [];
  const host = plainHost(name);
  const isPort = port === undefined || (Number(port) > 0 && Number(port) < 65_536);
  if (host === undefined || !isPort) {
    throw new SandboxError(
      `"${entry}" cannot be an allowed host. Write a name such as example.com, *.example.com or example.com:8443.`,
    );
  }
  return { host, below: star !== undefined, ports: port === undefined ? WEB_PORTS : [Number(port)] };
}

/** The name for comparison; undefined for addresses and invalid host names. */
export function plainHost(name: string): string | undefined {
  const host = domainToASCII(name.toLowerCase()).replace(/\.$/, "");
  // A final label in digits or hexadecimal makes the whole an address in one of its many spellings.
  if (host === "" || isIP(host) !== 0 || /(^|\.)(\d+|0x[0-9a-f]*)$/.test(host)) return undefined;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) && host.length <= 253 ? host : undefined;
}

export function isListed(list: readonly HostEntry[], host: string, port: number): boolean {
  return list.some(
    (entry) => entry.ports.includes(port) && (entry.below ? host.endsWith(`.${entry.host}`) : host === entry.host),
  );
}
