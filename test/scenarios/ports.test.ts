/** A dev server that a command started: the model learns its port, and only a person opens it. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { CommandReply } from "../../src/protocol/client.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { hostEngine, turnOf } from "../support/hosted-engine.js";
import { needs } from "../support/needs.js";
import { temporaryFolder } from "../support/program.js";
import { slash } from "../support/slash-turn.js";
import { verifies } from "../verifies.js";

const SERVER = `node -e 'require("http").createServer((q, s) => s.end("dev server " + q.url)).listen(8241, "127.0.0.1", () => console.log("ready"))'`;

needs("sandbox").describe("the ports of a session", () => {
  verifies(["P8", "P4"], "are shown to the model, and opened, listed and closed by a person only", async () => {
    const mock = await startMockModel({
      script: script([
        reply().tool("bash", { command: SERVER, run_in_background: true }),
        reply().tool("bash", { command: "until curl -s 127.0.0.1:8241/up; do sleep 0.1; done" }),
        reply().tool("background", { id: "bg1" }),
        reply().text("It is up."),
      ]),
    });
    const folder = await temporaryFolder();
    const home = await mkdtemp(join(folder, "home-"));
    const hosted = await hostEngine(folder, mock, { flags: ["--sandbox", "auto"], home });
    let isOpen = true;
    const close = async () => {
      if (isOpen) await hosted.engine.close();
      isOpen = false;
    };
    onTestFinished(async () => {
      await close();
      await mock.close();
    });
    const { host } = hosted.engine;
    const client = connectInProcess(host, { id: hosted.engine.newClientId(), canAnswer: true });
    const agent = connectInProcess(host, { id: hosted.engine.newClientId(), identity: "agent", canAnswer: true });
    const created = await client.send("CreateSession", {});
    if (!created.ok || created.session === undefined) throw new Error("no session");
    const { session } = created;
    await agent.send("AttachSession", {}, session);
    const said = (answer: CommandReply) => (answer.ok ? JSON.stringify(answer.value) : answer.failure.message);
    const say = async (line: string, by = client) => said(await slash(by, session, line));

    expect(await say("/ports")).toContain("No port listens");
    const events = await turnOf(client, session, "start it");
    const told = events.flatMap((event) =>
      event.kind === "ToolResult" ? [JSON.stringify(event.payload.content)] : [],
    );
    expect(told.at(-1)).toContain("[Listening here: 8241. The user reaches a port with /ports open 8241.]");
    expect(await say("/ports")).toContain("8241: listens; /ports open 8241");
    expect((await slash(agent, session, "/ports open 8241")).ok).toBe(false);
    expect(await say("/ports open 9")).toContain("Nothing listens on port 9 in this session. Listening: 8241.");
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(await say("/ports open 8241")) ?? [];
    expect(await (await fetch(`${url}/page`)).text()).toBe("dev server /page");
    expect(await say("/ports")).toContain(`8241: open at ${url}`);
    expect(await say("/ports close 8241")).toContain("Port 8241 is closed.");
    await expect(fetch(url)).rejects.toThrow();
    const [again = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(await say("/ports open 8241")) ?? [];
    expect((await fetch(again)).status).toBe(200);
    await close();
    await expect(fetch(again)).rejects.toThrow();
  });
});
