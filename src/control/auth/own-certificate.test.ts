import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, onTestFinished } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { ownCertificate } from "./own-certificate.js";

const NOW = Date.UTC(2026, 5, 1);
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const ADDRESSES = ["127.0.0.1", "192.168.1.20", "fd00::1:2"];

async function stateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "certificate-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe("a certificate of its own", () => {
  verifies(["U4"], "names the addresses, and is kept", async () => {
    const state = await stateFolder();
    const first = await ownCertificate(state, { addresses: ADDRESSES, now: NOW });
    const certificate = new X509Certificate(first.cert);
    for (const address of ADDRESSES) expect(certificate.checkIP(address), address).toBe(address);
    expect(certificate.checkIP("192.168.1.21")).toBeUndefined();
    expect(certificate.checkHost("localhost")).toBe("localhost");
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(Date.parse(certificate.validTo) - NOW).toBeLessThan(398 * 24 * 60 * 60 * 1000);
    expect(await ownCertificate(state, { addresses: ADDRESSES.slice(0, 2), now: NOW })).toEqual(first);
    expect((await stat(join(state, "web-key.pem"))).mode & 0o777).toBe(0o600);
  });

  verifies(["U4"], "is made anew for other addresses, near its end, and for a key that others could read", async () => {
    const state = await stateFolder();
    const first = await ownCertificate(state, { addresses: ADDRESSES, now: NOW });
    const other = await ownCertificate(state, { addresses: ["10.0.0.7"], now: NOW });
    expect(other.key).toBe(first.key);
    expect(other.fingerprint).not.toBe(first.fingerprint);
    const later = await ownCertificate(state, { addresses: ["10.0.0.7"], now: NOW + YEAR_MS + 30 * 86_400_000 });
    expect(later.fingerprint).not.toBe(other.fingerprint);
    await chmod(join(state, "web-key.pem"), 0o644);
    expect((await ownCertificate(state, { addresses: ["10.0.0.7"], now: NOW })).key).not.toBe(first.key);
  });

  verifies(["U4"], "serves TLS to a client that knows it", async () => {
    const { cert, key, fingerprint } = await ownCertificate(await stateFolder(), {
      ...{ addresses: ["127.0.0.1"], now: Date.now() },
    });
    const server = createServer({ cert, key }, (_, response) => response.end("ok"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const seen = await new Promise<string>((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port, ca: cert }, () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      });
      socket.on("error", reject);
    });
    expect(seen).toBe(fingerprint);
  });
});
