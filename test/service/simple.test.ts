/** The simple surface on a session of an engine, as `oxbow serve --simple` mounts it. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { type SimpleService, serveSimple } from "../../src/cli/serve/simple.js";
import type { JsonObject } from "../../src/protocol/json.js";
import { reply, script } from "../../src/testkit/index.js";
import { type Served, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

let served: Served;
let simple: SimpleService;
let token: string;
const refusals: [string, JsonObject][] = [];
beforeAll(async () => {
  served = await serve({
    script: script([
      reply().when("look").thinking("Where?").text("Looking.").tool("ls", {}),
      reply().when("wait").text("Wai").hang(),
      reply().text("Nothing here.").times(Infinity),
    ]),
  });
  const { hosted } = served;
  const place = { engine: hosted.engine, client: hosted.connect() };
  const state = join(served.home, "state");
  const log = (message: string, fields: JsonObject) => void refusals.push([message, fields]);
  simple = await serveSimple(place, { place: "127.0.0.1:0", origins: [], state, log });
  token = (await readFile(simple.tokenFile, "utf8")).trim();
});
afterAll(async () => {
  await simple.close();
  await served.close();
});

const headers = () => ({ authorization: `Bearer ${token}` });

async function prompt(content: string): Promise<number> {
  const body = JSON.stringify({ content });
  return (await fetch(`${simple.url}/prompt`, { method: "POST", headers: headers(), body })).status;
}

/** Reads events until one fits. */
async function readUntil(fits: (event: Record<string, unknown>) => boolean, begin: () => Promise<unknown>) {
  const response = await fetch(`${simple.url}/events`, { headers: headers() });
  await begin();
  const events: Record<string, unknown>[] = [];
  let rest = "";
  for await (const piece of response.body ?? []) {
    const blocks = `${rest}${Buffer.from(piece).toString("utf8")}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) if (block.startsWith("data: ")) events.push(JSON.parse(block.slice(6)));
    if (events.some(fits)) break;
  }
  return events;
}

const isIdle = ({ type, state }: Record<string, unknown>) => type === "status" && state === "idle";

describe("the simple surface of oxbow serve", () => {
  verifies(["C6"], "streams complete blocks of a prompt, and one idle status at its end", async () => {
    const events = await readUntil(isIdle, () => prompt("look around"));
    expect(events.filter(({ type }) => type !== "status")).toMatchObject([
      { type: "user", content: "look around", timestamp: expect.any(Number) },
      { type: "reasoning", content: "Where?" },
      { type: "text", content: "Looking." },
      { type: "tool_call", name: "ls", input: {} },
      { type: "tool_result", isError: false },
      { type: "text", content: "Nothing here." },
    ]);
    const call = events.find(({ type }) => type === "tool_call");
    expect(events.find(({ type }) => type === "tool_result")?.id).toBe(call?.id);
    expect(events.filter(isIdle)).toMatchObject([{ message: "Ready." }]);
  });

  verifies(["C6", "C7"], "logs a refused token without its text, a bounded number of times", async () => {
    const wrong = "wrong".repeat(8);
    for (let count = 0; count < 30; count++) {
      expect((await fetch(`${simple.url}/events?token=${wrong}`)).status).toBe(401);
    }
    const about = { from: "127.0.0.1", method: "GET", path: "/events", reason: "The token is wrong" };
    expect(refusals).toEqual(Array.from({ length: 20 }, () => ["a token was refused", about]));
  });

  verifies(["C6", "C7"], "keeps its token in a file that only the user can read, and removes it", async () => {
    expect(((await stat(simple.tokenFile)).mode & 0o777).toString(8)).toBe("600");
    const place = { engine: served.hosted.engine, client: served.hosted.connect() };
    const options = { place: "127.0.0.1:0", origins: [], state: join(served.home, "state"), log: () => {} };
    const other = await serveSimple(place, options);
    expect(other.tokenFile).not.toBe(simple.tokenFile);
    await other.close();
    await expect(stat(other.tokenFile)).rejects.toThrow("ENOENT");
  });

  verifies(["C6"], "refuses a second prompt, and cancels the first", async () => {
    const isThinking = ({ state }: Record<string, unknown>) => state === "thinking";
    await readUntil(isThinking, () => prompt("wait for it"));
    expect(await prompt("another")).toBe(409);
    const cancel = () => fetch(`${simple.url}/cancel`, { method: "POST", headers: headers() });
    const events = await readUntil(isIdle, cancel);
    expect(events.at(-1)).toMatchObject({ state: "idle", message: "Cancelled." });
  });
});
