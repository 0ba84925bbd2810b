/**
 * A service that breaks its answer off at every byte (feature M9): what is shown, what is stored and what is sent with the next
 * request is the whole answer, once. (A sample of the bytes; all of them with OXBOW_TEST_THOROUGH=1.)
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect } from "vitest";
import type { Clock } from "../../src/base/clock.js";
import { systemClock } from "../../src/base/clock.js";
import { plainText } from "../../src/protocol/content.js";
import type { Envelope } from "../../src/protocol/envelope.js";
import { createHttpModel } from "../../src/providers/http-model.js";
import { loadWire, type WireName } from "../../src/providers/named.js";
import { ConversationBuilder } from "../../src/sessions/conversation.js";
import { createHttpClient } from "../../src/system/http-client.js";
import { startMockModel } from "../../src/testkit/index.js";
import { ok, testEngine, tool } from "../support/engine.js";
import { times } from "../support/thorough.js";
import { verifies } from "../verifies.js";

/** A prime, so that over the wires every kind of place is met. */
const STEP = times(41, 1);
const LONG_MS = times(30_000, 600_000);
const http = createHttpClient();
/** Waits take no time, everything else does. */
const hasty: Clock = { ...systemClock, after: (ms, action) => systemClock.after(ms >= 100 ? 0 : ms, action) };

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

interface Recorded {
  readonly type: string;
  readonly body: Buffer;
}

/** The bytes that a model sends for each of the replies of a script, in turn. */
async function record(wire: WireName, script: string): Promise<readonly Recorded[]> {
  const mock = await startMockModel({ script });
  const recorded: Recorded[] = [];
  let next = 0;
  const proxy = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", async () => {
      const headers = Object.entries(request.headers).filter(
        ([name]) => !/^(host|connection|content-length)$/.test(name),
      );
      const answer = await fetch(`${mock.url}${request.url}`, {
        method: "POST",
        headers: Object.fromEntries(headers) as Record<string, string>,
        body: Buffer.concat(pieces),
      });
      const body = Buffer.from(await answer.arrayBuffer());
      recorded[next++] = { type: answer.headers.get("content-type") ?? "", body };
      response.writeHead(200, { "content-type": answer.headers.get("content-type") ?? "" }).end(body);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  await run(wire, `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  proxy.close();
  proxy.closeAllConnections();
  await mock.close();
  return recorded;
}

const BASE: Readonly<Record<string, string>> = { "openai-chat": "/v1", "openai-responses": "/v1" };

async function run(wire: WireName, url: string) {
  const endpoint = { provider: wire, family: wire, baseUrl: `${url}${BASE[wire] ?? ""}`, key: "any", local: false };
  const model = createHttpModel({ wire: await loadWire(wire), endpoint, model: "mock-model", http });
  const ran: unknown[] = [];
  const look = tool("look", async (args) => {
    ran.push(args);
    return ok("seen");
  });
  const engine = testEngine({
    model,
    tools: [look],
    clock: hasty,
    retry: { clock: hasty, random: () => 0, totalWaitMs: 60_000 },
  });
  const result = await engine.turn("go");
  return { engine, result, ran };
}

/** Answers request n with the n-th answer, except that the first one ends early once, after `border` bytes. */
async function breaking(
  answers: readonly Recorded[],
  border: () => { readonly answer: number; readonly byte: number },
) {
  const state = { next: 0, broken: false, requests: [] as string[] };
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => {
      text += piece;
    });
    request.on("end", () => {
      state.requests.push(text);
      const { answer, byte } = border();
      const { type, body } = answers[state.next] as Recorded;
      response.writeHead(200, { "content-type": type });
      if (state.next === answer && !state.broken) {
        state.broken = true;
        response.write(body.subarray(0, byte), () => response.destroy());
        return;
      }
      state.next++;
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const reset = () => Object.assign(state, { next: 0, broken: false, requests: [] });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, state, reset };
}

/** Tells what a person has read at the end. */
function shown(events: readonly Envelope[]): string {
  let text = "";
  for (const event of events) {
    if (event.kind === "TextDelta") text += event.payload.text;
    if (event.kind === "AnswerRetracted") text = "";
  }
  return text;
}

const WIRES: readonly WireName[] = ["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"];
const THINKING_AND_TEXT = "reply\n  thinking: Hm… 🐂\n  text size=3: Grüße, 🌊 done.\n";
const ANSWER = "Grüße, 🌊 done.";

describe("a stream that breaks at any byte", () => {
  for (const wire of WIRES) {
    verifies(
      ["M9", "S6"],
      `${wire}: the answer is shown and stored whole, once`,
      async () => {
        const answers = await record(wire, THINKING_AND_TEXT);
        const length = answers[0]?.body.length ?? 0;
        expect(length).toBeGreaterThan(100);
        let byte = 0;
        const service = await breaking(answers, () => ({ answer: 0, byte }));
        for (byte = 1; byte < length; byte += STEP) {
          service.reset();
          const { engine, result } = await run(wire, service.url);
          const where = `${wire} at byte ${byte}`;
          expect(result, where).toMatchObject({ outcome: "answered", text: ANSWER, iterations: 1 });
          expect(shown(engine.events), where).toBe(ANSWER);
          expect(engine.kinds("AnswerRetracted"), where).toEqual([]);
          const messages = rebuilt(engine.events);
          expect(messages, where).toEqual(engine.conversation);
          expect(messages).toHaveLength(2);
          expect(plainText(messages[1]?.content ?? [])).toBe(ANSWER);
          expect(new Set(service.state.requests).size, where).toBe(1);
        }
      },
      LONG_MS,
    );
  }

  verifies(
    ["M9", "L6"],
    "a call that began early is never made twice, and nothing said around it is lost",
    async () => {
      const script = [
        'reply\n  text size=4: Looking now.\n  tool look {"n": 1}\n  tool look {"n": 2}',
        "reply\n  text: All seen.\n",
      ].join("\n");
      const answers = await record("anthropic", script);
      const length = answers[0]?.body.length ?? 0;
      let byte = 0;
      const service = await breaking(answers, () => ({ answer: 0, byte }));
      const outcomes = new Set<string>();
      for (byte = 1; byte < length; byte += STEP) {
        service.reset();
        const { engine, result, ran } = await run("anthropic", service.url);
        const where = `byte ${byte}`;
        expect(result.outcome, where).toBe("answered");
        expect(rebuilt(engine.events), where).toEqual(engine.conversation);
        const starts = engine.events.flatMap((event) => (event.kind === "ToolCallStarted" ? [event.payload.args] : []));
        expect(starts, where).toEqual(ran);
        // Cut after the first call, the answer ends there; the model, asked again, gives its first answer once more.
        const cut = engine.kinds("Retrying").length > 0 && engine.events.some((event) => isCut(event));
        outcomes.add(cut ? "cut" : "again");
        const seen = starts.map((args) => args.n);
        expect(
          cut
            ? [
                [1, 1, 2],
                [1, 2, 1, 2],
              ]
            : [[1, 2]],
          where,
        ).toContainEqual(seen);
        if (!cut) expect(shown(engine.events), where).toBe("Looking now.All seen.");
      }
      expect([...outcomes].sort()).toEqual(["again", "cut"]);
    },
    LONG_MS,
  );
});

function isCut(event: Envelope): boolean {
  return event.kind === "AnswerEnded" && event.payload.interrupted === true;
}

function rebuilt(events: readonly Envelope[]) {
  const builder = new ConversationBuilder();
  for (const event of events) builder.take(event);
  return builder.end().messages;
}
