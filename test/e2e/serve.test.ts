/** `oxbow serve` as a process: it says where it listens, ends on a signal, and after kill -9 its clients continue with the next one. */
import type { ChildProcess } from "node:child_process";
import { stat } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { EventSource } from "eventsource";
import { describe, expect } from "vitest";
import type { Envelope } from "../../src/protocol/envelope.js";
import { EVENT_KINDS } from "../../src/protocol/event-fields.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { type ProgramResult, providerEnvironment, temporaryFolder } from "../support/program.js";
import { oxbowProcess } from "../support/program-process.js";
import { verifies } from "../verifies.js";

interface Service {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<ProgramResult>;
}

/** Starts it and waits until it listens. */
function start(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Promise<Service> {
  return new Promise((resolve, reject) => {
    const ended = oxbowProcess(["serve", ...args], {
      cwd,
      env,
      onOutput: ({ stdout }, child) => {
        const url = /listening on (http\S+)\n/.exec(stdout)?.[1];
        if (url !== undefined) resolve({ child, url, ended });
      },
    });
    ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
}

/** One request over the socket. */
function ask(home: string, method: string, path: string, { token, body }: { token: string; body?: object }) {
  return new Promise<{ status: number; json: Record<string, unknown> }>((resolve, reject) => {
    const headers = { "x-oxbow-token": token };
    const socketPath = join(home, "state", "control.sock");
    const sent = request({ socketPath, method, path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, json: text === "" ? {} : JSON.parse(text) }),
      );
    });
    sent.on("error", reject);
    sent.end(body && JSON.stringify(body));
  });
}

describe("oxbow serve", () => {
  verifies(
    ["C4", "C5", "S3"],
    "is killed in the middle of a turn; a new one resumes the session, and a reader continues with its next event",
    async () => {
      const mock = await startMockModel({
        script: script([
          reply().text("First. ").tool("ls", {}),
          reply().text("Second. ").delay(60_000),
          reply().text("Third.").times(Infinity),
        ]),
      });
      const home = await temporaryFolder();
      const cwd = await temporaryFolder();
      const env = { OXBOW_HOME: home, ...providerEnvironment("anthropic", mock.url) };
      const { readFile } = await import("node:fs/promises");
      const first = await start(["--listen", "127.0.0.1:0"], env, cwd);
      const token = (await readFile(join(home, "state", "control.token"), "utf8")).trim();
      await ask(home, "GET", "/v1/handshake", { token });
      const { session } = (await ask(home, "POST", "/v1/sessions", { token, body: {} })).json;

      // The second engine has another port, and other programs may take the first one meanwhile.
      let url: string | undefined = first.url;
      const events: Envelope[] = [];
      let look = () => {};
      const source = new EventSource(`http://engine/v1/sessions/${session}/events?after=0`, {
        fetch: async (_address, init) => {
          if (url === undefined) throw new TypeError("There is no engine.");
          const address = `${url}/v1/sessions/${session}/events?after=0`;
          const response = await fetch(address, { ...init, headers: { ...init.headers, "x-oxbow-token": token } });
          const pieces = (response.body ?? new ReadableStream()).pipeThrough(
            new TransformStream({
              start: (controller) => controller.enqueue(new TextEncoder().encode("retry: 20\n\n")),
            }),
          );
          return new Response(pieces, { status: response.status, headers: response.headers });
        },
      });
      for (const kind of EVENT_KINDS) {
        source.addEventListener(kind, ({ data }: { data: string }) => {
          events.push(JSON.parse(data));
          look();
        });
      }
      const until = async (fits: (event: Envelope) => boolean) => {
        while (!events.some(fits)) {
          await new Promise<void>((resolve) => {
            look = resolve;
          });
        }
      };
      const input = { token, body: { content: "go" } };
      expect((await ask(home, "POST", `/v1/sessions/${session}/input`, input)).status).toBe(202);
      await until(({ kind, payload }) => kind === "TextDelta" && JSON.stringify(payload).includes("Second"));
      url = undefined;
      first.child.kill("SIGKILL");
      await first.ended;

      const second = await start(["--listen", "127.0.0.1:0"], env, cwd);
      url = second.url;
      // The turn that the kill has cut off gets its end when the session opens.
      await until(({ kind, payload }) => kind === "TurnEnded" && JSON.stringify(payload).includes("Interrupted"));
      expect((await ask(home, "POST", `/v1/sessions/${session}/input`, input)).status).toBe(428);
      await ask(home, "GET", "/v1/handshake", { token });
      const turn = await ask(home, "POST", `/v1/sessions/${session}/input?wait=turn`, input);
      expect(turn.json).toMatchObject({ outcome: "answered", text: "Third." });
      await until(({ kind, payload }) => kind === "TurnEnded" && JSON.stringify(payload).includes("Third"));
      source.close();
      // What the reader has is what the log has: it forgets the events that a gap calls lost.
      const kept: Envelope[] = [];
      for (const event of events) {
        if (event.kind !== "StreamGap") kept.push(event);
        else if (event.payload.reason === "lost") kept.length = event.payload.from - 1;
      }
      const { json } = await ask(home, "GET", `/v1/sessions/${session}?events=1000`, { token });
      expect(kept).toEqual(json.events);

      second.child.kill("SIGINT");
      expect(await second.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("ending") });
      await expect(stat(join(home, "state", "control.sock"))).rejects.toThrow("ENOENT");
      await mock.close();
    },
    60_000,
  );
});
