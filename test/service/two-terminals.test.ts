/** Two terminal clients in one session: one in the process of the engine, one over the socket. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import { Listening } from "../../src/cli/attach/listen.js";
import { connect } from "../../src/clients/sdk-node/index.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { roots } from "../../src/system/xdg-paths.js";
import { parseScript } from "../../src/testkit/index.js";
import { type Served, serve } from "../support/served-engine.js";
import { TuiClient } from "../support/tui-client.js";
import { verifies } from "../verifies.js";

let engine: Served;

afterEach(() => engine.close());

describe("two terminal clients", () => {
  verifies(
    ["C10", "P4", "U2"],
    "share a session: prompts, questions, who answered, and leaving during a turn",
    async () => {
      const script = `reply
  tool write {"path": "a.txt", "content": "a"}
reply
  text: Written.
reply
  text: Still here.
  delay 300ms
  text: And done.
reply
  text: Yes.
`;
      engine = await serve({ script: parseScript(script), flags: ["--permission-mode", "ask"] });
      const first = await TuiClient.open(engine.hosted);
      const { client } = await connect({ socket: engine.socket, token: engine.token, name: "second" });
      const second = await TuiClient.over(client, { session: first.session, resumed: true, keepsTurn: () => true });
      second.type(..."write it", "\r");
      for (const each of [first, second]) await each.until(/^Write \S+\?/m);
      expect(await first.until("Sent by second.")).toContain("write it");
      first.type("y");
      for (const each of [first, second]) await each.until("Written.");
      expect(await second.text()).toContain("Already allowed by owner.");
      expect(await second.screen()).not.toMatch(/^Write \S+\?/m);
      first.type(..."/clients", "\r");
      await first.until(/second \(cli_\w+\) +human, http, in this session/);
      second.type(..."one more", "\r");
      await second.until("Still here.");
      await second.leave();
      await client.close();
      await first.until("And done.");
      first.type(..."/clients", "\r");
      await first.until(/owner \(cli_\w+\) +human, inproc/);
      const other = await connect({ socket: engine.socket, token: engine.token });
      await (await other.attach(first.session)).end();
      await other.close();
      first.type(..."are you there", "\r");
      await first.until("Yes.");
      await first.leave();
    },
  );

  verifies(
    ["C10", "L17", "U2"],
    "one that attaches to a subagent in the middle of its turn sees the rest of it",
    async () => {
      const script = `reply when "SEARCH"
  tool bash {"command": "touch begun; until [ -e go ]; do sleep 0.02; done; echo found"}
reply when "begin"
  tool agent {"prompt": "SEARCH the files", "description": "search"}
reply times=any
  text: The end.
`;
      engine = await serve({ script: parseScript(script), flags: ["--permission-mode", "allow"] });
      const first = await TuiClient.open(engine.hosted);
      first.type(..."begin", "\r");
      const { root } = engine.hosted;
      await expect.poll(() => existsSync(join(root, "begun"))).toBe(true);
      const { client } = await connect({ socket: engine.socket, token: engine.token, name: "second" });
      const listed = await client.query("ListSessions", { subagents: true });
      const subagent = (listed.ok ? listed.answer.sessions : []).find(({ title }) => title?.startsWith("subagent"));
      const session = subagent?.id as SessionId;
      await client.send("CreateSession", { resume: session });
      const second = await TuiClient.over(client, { session, resumed: true, keepsTurn: () => true });
      await second.until("SEARCH the files");
      writeFileSync(join(root, "go"), "");
      await second.until(/✓ bash[\s\S]*The end\.[\s\S]* in · /);
      await first.until("The end.");
      await second.leave();
      await client.close();
      await first.leave();
    },
  );

  verifies(
    ["C7", "U2"],
    "show the code of a token as a question with one-key answers, and never print it",
    async () => {
      engine = await serve();
      const first = await TuiClient.open(engine.hosted);
      const ask = () =>
        engine.ask(`/v1/auth/token?session=${first.session}&identity=agent&name=helper`, { token: undefined });
      const confirm = (request: string, code: string) =>
        engine.ask("/v1/auth/token", { method: "POST", body: { request, code }, token: undefined });
      const refused = (await ask()).json;
      const code = /Code: (\d{6})/.exec(await first.until("Give a program a token?"))?.[1] ?? "";
      expect(await first.screen()).toContain("agent, sess_");
      first.type("n");
      await first.until("A person refused the request for a token.");
      expect((await confirm(refused.request, code)).json.error.message).toContain("A person refused this request.");
      const wanted = (await ask()).json;
      const second = /Code: (\d{6})/.exec(await first.until("Code:"))?.[1] ?? "";
      expect((await confirm(wanted.request, second)).status).toBe(201);
      await first.until("The token was made.");
      expect(await first.text()).not.toMatch(new RegExp(`${code}|${second}`));
      await first.leave();
    },
  );

  verifies(["U2", "U6"], "show the address of an engine that listens on a port, and /web names it", async () => {
    engine = await serve();
    const { hosted, home } = engine;
    let show: (message: string) => void = () => {};
    const first = await TuiClient.open(hosted, {
      onMessages: (other) => {
        show = other;
      },
    });
    first.process.resize(120, 24);
    const listening = new Listening({
      ...{ engine: hosted.engine, client: first.client, roots: roots({ OXBOW_HOME: home }), variables: {} },
      ...{ listen: ["127.0.0.1:0"], log: () => {}, notify: (message) => show(message) },
    });
    listening.begin();
    const screen = await first.until(/Listening on http[\s\S]*· http:\/\/127\.0\.0\.1:\d+/);
    const [, address = ""] = /Listening on (\S+)/.exec(screen) ?? [];
    expect(screen.trimEnd().split("\n").at(-1)).toContain(address);
    first.type(..."/web", "\r");
    await first.until(`/web\n${address}`);
    expect((await fetch(`${address}/v1/handshake`)).status).toBe(401);
    await listening.close();
    await first.leave();
  });
});
