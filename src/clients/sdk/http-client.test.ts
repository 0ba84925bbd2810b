import { describe, expect, it } from "vitest";
import { ManualClock } from "../../base/clock.js";
import { PROTOCOL_VERSION } from "../../protocol/handshake.js";
import type { SessionId } from "../../protocol/ids.js";
import type { ExchangeRequest } from "./exchange.js";
import { HttpClient } from "./http-client.js";

const SESSION = "sess_1" as SessionId;

/** An engine as it is on the wire: it knows the clients that shook hands with it since it started. */
function engine() {
  const requests: string[] = [];
  let starts = 1;
  let drop = () => {};
  let refusals = 0;
  const answer = (status: number, body: unknown, pieces: AsyncIterable<Uint8Array> = none()) => ({
    ...{ status, text: async () => JSON.stringify(body) },
    pieces: () => pieces,
  });
  const exchange = async ({ method, path, headers, body }: ExchangeRequest) => {
    const [place = ""] = path.split("?");
    const kind = body === undefined ? "" : ` ${JSON.parse(body).kind}`;
    requests.push(`${method} ${place}${kind} ${headers["x-oxbow-client"] ?? "nobody"}`);
    if (place === "/v1/handshake" && refusals-- > 0) return answer(503, {});
    if (place === "/v1/handshake") {
      return answer(200, { protocol_version: PROTOCOL_VERSION, client: `cli_${starts}`, identity: "human" });
    }
    if (method === "GET") {
      return answer(200, undefined, open(new Promise<void>((resolve) => (drop = resolve))));
    }
    return answer(200, { ok: true, answer: { last_event: 0 } });
  };
  const startAgain = (refused = 0) => {
    starts += 1;
    refusals = refused;
    drop();
  };
  return { exchange, requests, startAgain };
}

async function* none(): AsyncGenerator<Uint8Array> {}

async function* open(ended: Promise<void>): AsyncGenerator<Uint8Array> {
  await ended;
  yield new Uint8Array();
}

describe("a client whose engine was started again", () => {
  it("does not follow its session where it could not greet", async () => {
    const clock = new ManualClock();
    const { exchange, requests, startAgain } = engine();
    const client = await HttpClient.connect({ exchange, clock, place: "here", token: "t", random: () => 0 });
    await client.send("AttachSession", { after: 0 }, SESSION);
    startAgain(1);
    for (let look = 0; look < 100 && client.id !== "cli_2"; look++) {
      await new Promise(setImmediate);
      clock.advance(100);
    }
    await new Promise(setImmediate);
    expect(requests.at(-1)).toBe(`GET /v1/sessions/${SESSION}/events cli_2`);
    await client.close();
  });

  it("greets the new one before it follows its session, so that it is one client there", async () => {
    const clock = new ManualClock();
    const { exchange, requests, startAgain } = engine();
    const client = await HttpClient.connect({ exchange, clock, place: "here", token: "t", random: () => 0 });
    await client.send("AttachSession", { after: 0 }, SESSION);
    const stream = `GET /v1/sessions/${SESSION}/events`;
    expect(requests.at(-1)).toBe(`${stream} cli_1`);
    startAgain();
    for (let look = 0; look < 100 && requests.at(-1) !== `${stream} cli_2`; look++) {
      await new Promise(setImmediate);
      clock.advance(100);
    }
    expect(requests.slice(-2)).toEqual(["GET /v1/handshake cli_1", `${stream} cli_2`]);
    expect(client.id).toBe("cli_2");
    await client.close();
  });
});
