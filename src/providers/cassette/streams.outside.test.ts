/** Real answers of many services (`wire/` of the suites) come off a cassette as they went onto it. */

import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { unless } from "../../../test/support/needs.js";
import { systemClock } from "../../base/clock.js";
import { redact } from "../../security/redact/redact.js";
import { RedactingStream } from "../../security/redact/redacting-stream.js";
import { createHttpClient, type HttpClient } from "../../system/http-client.js";
import { recordingClient } from "./record.js";
import { replayingClient } from "./replay.js";
import { CASSETTE_VERSION, cassetteLine, type Exchange, parseCassette } from "./tape.js";

const FOLDER = join(
  process.env.OXBOW_SUITES || fileURLToPath(new URL("../../../../shared/suites", import.meta.url)),
  "wire",
);
const noSuites = existsSync(join(FOLDER, "index.json")) ? undefined : `needs the suites at ${FOLDER}: set OXBOW_SUITES`;

async function bytes(http: HttpClient, url: string): Promise<Buffer> {
  const response = await http.request({ method: "POST", url, headers: { accept: "text/event-stream" }, body: "{}" });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  return Buffer.concat(pieces);
}

unless(noSuites).describe("[M18] recorded streams", () => {
  it("are the same bytes, but for what is hidden", async () => {
    const cases: { file: string }[] = JSON.parse(readFileSync(join(FOLDER, "index.json"), "utf8")).cases;
    const server = createServer((request, response) => {
      response.end(readFileSync(join(FOLDER, cases[Number(request.url?.slice(1))]?.file ?? "")));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const around = {
      places: [{ name: "workspace", path: "/no/such" }],
      today: "",
      redact,
      digest: String,
      clock: systemClock,
    };
    const exchanges: Exchange[] = [];
    const http = createHttpClient();
    const recording = recordingClient({
      ...around,
      http,
      write: (exchange) => exchanges.push(exchange),
      redactStream: () => new RedactingStream(),
    });
    for (const index of cases.keys()) await bytes(recording, `${url}/${index}`);
    server.close();
    http.close();
    const header = { type: "cassette" as const, version: CASSETTE_VERSION, recorded: "", variables: {} };
    const cassette = parseCassette([header, ...exchanges].map(cassetteLine).join(""), "tape");
    const replayed = replayingClient({ ...around, cassette, file: "tape" });
    const changed: string[] = [];
    for (const [index, { file }] of cases.entries()) {
      const again = await bytes(replayed, `${url}/${index}`);
      if (!again.equals(readFileSync(join(FOLDER, file)))) changed.push(file);
      if (changed.at(-1) === file) expect(again.toString(), file).toContain("«redacted:");
    }
    expect(changed.length / cases.length).toBeLessThan(0.02);
  });
});
