/** Programs that use an engine which runs already: `run --attach`, `status`, `doctor`, and the lock of the socket. */
import { mkdir, mkdtemp, readdir, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { ControlOwner } from "../../src/control/control-owner.js";
import { controlPlace } from "../../src/control/control-place.js";
import { parseScript } from "../../src/testkit/index.js";
import { needs } from "../support/needs.js";
import { BIN, envelopes, providerEnvironment } from "../support/program.js";
import { oxbowHere } from "../support/program-here.js";
import { NO_LOCAL_SERVERS } from "../support/program-options.js";
import { RealTerminal } from "../support/real-terminal.js";
import { type Served, serve } from "../support/served-engine.js";
import { verifies } from "../verifies.js";

let engine: Served;
let cwd: string;

async function start(script: string, flags: readonly string[] = []): Promise<void> {
  engine = await serve({ script: parseScript(script), flags, serve: { variables: NO_LOCAL_SERVERS } });
}

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "oxbow-test-"));
});

afterEach(async () => {
  await engine?.close();
  await rm(cwd, { recursive: true, force: true });
});

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return oxbowHere(args, { cwd, env: { OXBOW_HOME: engine.home, ...env } });
}

/** The same without a running engine. */
function cold(args: readonly string[]) {
  return oxbowHere(args, { cwd, env: providerEnvironment("anthropic", engine.mock.url) });
}

describe("run --attach", () => {
  verifies(["C10"], "prints and exits as a run without it", async () => {
    const write = 'reply\n  tool write {"path": "made.txt", "content": "x"}\nreply\n  text: No.\n';
    const bad = 'reply\n  error 400 "no"\n';
    const script = `reply\n  text: Hi.\nreply\n  text: Hi.\n${write}${write}${bad}${bad}reply\n  text: Hi.\nloop\n`;
    await start(script, ["--permission-mode", "ask"]);
    const both = async (...args: readonly string[]) => [
      await run(["run", "--attach", ...args]),
      await cold(["run", "--sandbox", "off", "--permission-mode", "ask", ...args]),
    ];
    const [events, own] = await both("hi", "--output-format", "stream-json");
    const kinds = (stdout = "") => envelopes(stdout).map(({ kind }) => kind);
    expect(kinds(events?.stdout)).toEqual(kinds(own?.stdout));
    expect([events?.code, own?.code]).toEqual([0, 0]);
    const denied = await both("write it");
    expect(denied.map(({ code }) => code)).toEqual([4, 4]);
    expect(denied[0]?.stderr).toBe(denied[1]?.stderr);
    const failed = await both("fail");
    expect(failed.map(({ code }) => code)).toEqual([1, 1]);
    expect(failed[0]?.stderr).toBe(failed[1]?.stderr);
    const { stdout } = await run(["run", "--attach", "hi", "--output-format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "answered", text: "Hi." });
  });

  verifies(["C10"], "says what is wrong: no engine, a flag of its start, an unknown session", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    const none = await oxbowHere(["run", "--attach", "hi"], { cwd });
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining("no engine runs here") });
    expect(await run(["run", "--attach", "--store", "none", "hi"])).toMatchObject({ code: 2 });
    expect(await run(["run", "--attach", "--resume", "nothing", "hi"])).toMatchObject({ code: 2 });
    expect(await run(["run", "--attach", "--no-attach", "hi"])).toMatchObject({ code: 2 });
  });

  verifies(["C10"], "takes the model, the profile, the effort and the folder of this client", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    const model = () => (engine.mock.requests.at(-1)?.body as { readonly model: string } | undefined)?.model;
    expect(await run(["run", "--attach", "hi"], { OXBOW_MODEL: "anthropic:one" })).toMatchObject({ code: 0 });
    expect(model()).toBe("one");
    const both = { OXBOW_PROVIDER: "anthropic", OXBOW_MODEL: "one", OXBOW_EFFORT: "low" };
    expect(await run(["run", "--attach", "--model", "anthropic:two", "hi"], both)).toMatchObject({ code: 0 });
    expect(model()).toBe("two");
    await mkdir(join(engine.home, "config", "profiles"), { recursive: true });
    await writeFile(join(engine.home, "config", "profiles", "three.toml"), 'model = "anthropic:three"\n');
    expect(await run(["run", "--attach", "hi"], { OXBOW_PROFILE: "three" })).toMatchObject({ code: 0, stderr: "" });
    expect(model()).toBe("three");
    const session = await engine.newSession();
    const more = ["--resume", session, "--model", "anthropic:four", "--cwd", tmpdir()];
    const again = await run(["run", "--attach", ...more, "hi"]);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(`works in ${engine.hosted.root}`) });
    expect(model()).toBe("four");
  });

  verifies(
    ["S13", "C10"],
    "joins a session that the engine has open; without it the session can be copied or waited for",
    async () => {
      await start("reply\n  text: Hi.\nloop\n");
      const session = await engine.newSession();
      const resume = ["--resume", session, "hi"];
      const env = providerEnvironment("anthropic", engine.mock.url);
      expect(await run(["run", "--attach", ...resume])).toMatchObject({ code: 0, stdout: "Hi.\n" });
      const refused = await run(["run", ...resume], env);
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      for (const advice of ["open in", "--attach", "--wait TIME", `oxbow session branch ${session}`])
        expect(refused.stderr).toContain(advice);
      expect(await run(["session", "branch", session])).toMatchObject({ code: 0 });
      expect(await run(["run", "--wait", "1ms", ...resume], env)).toMatchObject({ code: 1 });
      await engine.hosted.engine.close();
      expect(await run(["run", "--wait", "5s", ...resume], env)).toMatchObject({ code: 0, stdout: "Hi.\n" });
    },
  );

  verifies(["C10", "P4"], "is not for agents", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    expect(await run(["run", "--attach", "hi"], { OXBOW_AGENT: "" })).toMatchObject({ code: 2 });
    const status = await run(["status"], { OXBOW_AGENT: "1" });
    expect(status).toMatchObject({ code: 1, stdout: expect.stringContaining("an agent cannot use the engine") });
    expect(engine.mock.requests).toEqual([]);
  });
});

needs("tmux").describe("oxbow attach URL", () => {
  verifies(
    ["C10", "U2"],
    "converses with an engine at an address, in its folder, and runs no commands here",
    async () => {
      await start("reply\n  text: From afar.\nloop\n");
      const session = await engine.newSession();
      const open = (address: string, token: string) =>
        new RealTerminal(`cd ${cwd} && ${process.execPath} ${BIN} attach ${address} --resume ${session}; exec cat`, {
          variables: { OXBOW_HOME: join(cwd, "home"), OXBOW_TOKEN: token },
        });
      const terminal = open(engine.url, engine.token);
      await terminal.until("? for keys");
      terminal.type("are you there?", "Enter");
      await terminal.until(/From afar\.[\s\S]*out · /);
      terminal.type("!touch made", "Enter");
      await terminal.until(/cannot run/);
      await expect(readdir(cwd)).resolves.not.toContain("made");
      const refused = open(engine.url, "wrong");
      await refused.until(/token/);
    },
  );
});

describe("oxbow status and doctor", () => {
  verifies(["O1", "C10"], "show the engine: sessions, clients, addresses, parts", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    const session = await engine.newSession();
    const { code, stdout } = await run(["status", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      running: true,
      pid: process.pid,
      sessions: [{ id: session, cwd: engine.hosted.root, live: true }],
      clients: [{ identity: "human", transport: "http" }],
      parts: { control: { ok: true, detail: expect.stringContaining(engine.socket) }, sessions: { ok: true } },
    });
    expect((await run(["status"])).stdout).toContain(session);
    const checked = JSON.parse((await run(["doctor", "--json"])).stdout) as { subject: string; verdict: string }[];
    const subjects = checked.map(({ subject }) => subject);
    expect(subjects).toEqual(expect.arrayContaining(["disk", "terminal", "extensions", "MCP", "sandbox", "sessions"]));
    expect(checked.find(({ subject }) => subject === "engine")).toMatchObject({ verdict: "ok" });
    const idle = await oxbowHere(["status"], { cwd });
    expect(idle).toMatchObject({ code: 1, stdout: expect.stringContaining("No engine runs here") });
  });

  verifies(["C7", "C10"], "give the token to no socket but that of the engine", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    const real = `${engine.socket}.real`;
    await rename(engine.socket, real);
    await symlink(real, engine.socket);
    const { code, stdout } = await run(["status"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("does not belong to you")]);
    await rm(engine.socket);
    await rename(real, engine.socket);
  });

  verifies(["O1"], "say when the process that owns the socket does not answer", async () => {
    await start("reply\n  text: Hi.\nloop\n");
    await rm(engine.socket);
    const { code, stdout } = await run(["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ engine +process \d+ is the engine: Could not reach the engine/);
    expect((await run(["status"])).code).toBe(1);
  });
});

describe("the owner of the socket", () => {
  verifies(["C10"], "is one process, and a crash leaves nothing in the way", async () => {
    const home = join(cwd, "home");
    await mkdir(join(home, "state"), { recursive: true });
    const place = controlPlace({ state: join(home, "state") });
    const first = await ControlOwner.claim(place, systemClock);
    expect(await ControlOwner.claim(place, systemClock)).toBeUndefined();
    const mark = (await readlink(place.lock)).split("_");
    first?.close();
    // As a process leaves it that was killed: a lock with its start time, and a socket.
    await symlink(mark.with(3, "1").join("_"), place.lock);
    const server = createServer().listen(place.socket);
    onTestFinished(() => void server.close());
    await writeFile(`${place.socket}.other`, "");
    const second = await ControlOwner.claim(place, systemClock);
    expect(second).toBeDefined();
    expect(await readlink(place.lock)).not.toBe(mark.join("_"));
    second?.close();
    const third = await ControlOwner.claim(place, systemClock);
    expect(third).toBeDefined();
    third?.close();
  });
});
