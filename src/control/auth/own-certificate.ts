/**
 * A certificate of its own for the web client in the local network: no authority vouches for it, so a person compares its fingerprint.
 *
 * 1. The key and the certificate stay in the state folder (mode 0600), so that a browser asks only once.
 * 2. It names the addresses of this machine. Other addresses, or an end that is near, make a new one, with the same key.
 */
import { createPublicKey, generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { readPrivateFile, writePrivateFile } from "./private-file.js";

export interface OwnCertificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  /** SHA-256, as browsers show it. */
  readonly fingerprint: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The most that all browsers take. */
const VALID_DAYS = 397;
const RENEW_DAYS = 14;

export async function ownCertificate(
  state: string,
  { addresses, now }: { readonly addresses: readonly string[]; readonly now: number },
): Promise<OwnCertificate> {
  const [keyPath, certPath] = [join(state, "web-key.pem"), join(state, "web-cert.pem")];
  const kept = await readPrivateFile(keyPath);
  const isGood = kept?.isPrivate === true && kept.text.includes("PRIVATE KEY");
  const key = isGood ? kept.text : newKey();
  if (!isGood) await writePrivateFile(keyPath, key);
  const known = isGood ? (await readPrivateFile(certPath))?.text : undefined;
  const cert =
    known !== undefined && isUsable(known, { key, addresses, now }) ? known : certificateFor({ key, addresses, now });
  if (cert !== known) await writePrivateFile(certPath, cert);
  return { cert, key, fingerprint: new X509Certificate(cert).fingerprint256 };
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

interface Wanted {
  readonly key: string;
  readonly addresses: readonly string[];
  readonly now: number;
}

function isUsable(pem: string, { key, addresses, now }: Wanted): boolean {
  try {
    const certificate = new X509Certificate(pem);
    const isOurs = certificate.publicKey.equals(createPublicKey(key));
    const isFresh = Date.parse(certificate.validTo) - now > RENEW_DAYS * DAY_MS;
    return isOurs && isFresh && addresses.every((address) => certificate.checkIP(address) !== undefined);
  } catch {
    return false;
  }
}

// What follows writes X.509 (RFC 5280) in DER: a tag, a length, the content.

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]) => der(0x31, ...parts);
const octets = (...parts: readonly Uint8Array[]) => der(0x04, ...parts);
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes);
const whole = (bytes: Uint8Array) => der(0x02, bytes);
const TRUE = der(0x01, Buffer.from([0xff]));

/** The bytes of an object identifier; each number after the first two has seven bits a byte. */
function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = rest.flatMap((number) => {
    const digits = [number & 127];
    for (let left = number >> 7; left > 0; left >>= 7) digits.unshift((left & 127) | 128);
    return digits;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

function time(ms: number): Buffer {
  return der(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`));
}

function extension(name: string, value: Uint8Array, isCritical = false): Buffer {
  return sequence(oid(name), ...(isCritical ? [TRUE] : []), octets(value));
}

const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

function certificateFor({ key, addresses, now }: Wanted): string {
  const serial = randomBytes(16);
  // A whole number that is positive and has no byte too many.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  const name = sequence(set(sequence(oid("2.5.4.3"), der(0x0c, Buffer.from("Oxbow on this machine")))));
  const names = addresses.map((address) => der(0x87, addressBytes(address)));
  const extensions = sequence(
    extension("2.5.29.19", sequence(), true),
    // Digital signature.
    extension("2.5.29.15", der(0x03, Buffer.from([7, 0x80])), true),
    // For servers.
    extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"))),
    extension("2.5.29.17", sequence(der(0x82, Buffer.from("localhost")), ...names)),
  );
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  const body = sequence(
    der(0xa0, whole(Buffer.from([2]))),
    whole(serial),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(now - DAY_MS), time(now + VALID_DAYS * DAY_MS)),
    name,
    publicKey,
    der(0xa3, extensions),
  );
  const signed = sequence(body, ECDSA_WITH_SHA256, bits(sign("sha256", body, key)));
  const lines = signed.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail] = address.split("::");
  const groups = (text: string) => text.split(":").filter((group) => group !== "");
  const [before, after] = [groups(head), groups(tail ?? "")];
  const middle = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const all = [...before, ...middle, ...after].map((group) => Number.parseInt(group, 16));
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
}
