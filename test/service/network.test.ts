/** A listener for other machines: TLS, and tokens of certain sessions only. */

import { execFileSync } from "node:child_process";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { expect } from "vitest";
import { makeClaims } from "../../src/control/auth/claims.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { needs } from "../support/needs.js";
import { temporaryFolder } from "../support/program.js";
import { serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

interface Asked {
  readonly port: number;
  readonly ca: Buffer;
  readonly token: string;
  readonly host?: string;
}

/** The status of one request; the text of the error if there is none. */
function statusOf({ port, ca, token, host }: Asked): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { "x-oxbow-token": token, ...(host !== undefined && { host: `${host}:${port}` }) };
    const options = {
      host: "127.0.0.1",
      servername: "box.example",
      port,
      path: "/v1/sessions",
      ca,
      headers,
      agent: false,
    };
    const sent = request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", ({ message }) => resolve(message));
    sent.end();
  });
}

needs("openssl").describe("a port for other machines", () => {
  verifies(
    ["C7"],
    "speaks TLS alone, answers to the names of its certificate, and refuses the owner's token",
    async () => {
      const folder = await temporaryFolder();
      const [cert, key, file] = ["cert.pem", "key.pem", "token.json"].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      const names = "subjectAltName=DNS:box.example,IP:127.0.0.1";
      const how = [
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=box.example",
      ];
      execFileSync("openssl", ["req", ...how, "-keyout", key, "-out", cert, "-addext", names], { stdio: "ignore" });
      const sessions = [`sess_${"0".repeat(26)}` as SessionId];
      const claims = makeClaims({ identity_class: "agent", sessions }, { jti: "tok_lan", now: Date.now() / 1000 });
      const token = "t".repeat(40);
      await writeFile(file, JSON.stringify({ token, ...claims }));
      await chmod(file, 0o400);
      const served = await serve({ serve: { listen: ["0.0.0.0:0"], tlsCert: cert, tlsKey: key, authTokenFile: file } });
      try {
        const { port, protocol } = new URL(served.url);
        expect(protocol).toBe("https:");
        const place = { port: Number(port), ca: await readFile(cert), token };
        expect(await statusOf(place)).toBe(200);
        expect(await statusOf({ ...place, host: "box.example" })).toBe(200);
        expect(await statusOf({ ...place, host: "evil.example" })).toBe(403);
        expect(await statusOf({ ...place, token: served.token })).toBe(403);
        expect(await statusOf({ ...place, token: "wrong" })).toBe(401);
        expect((await served.ask("/v1/sessions")).status).toBe(200);
        await expect(served.ask("/v1/sessions", { over: "port" })).rejects.toThrow();
      } finally {
        await served.close();
      }
    },
  );
});
