/** The conformance suite on our own engine, and on servers with a fault. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { isJsonObject } from "../../src/protocol/json.js";
import { BROKEN_SERVERS, UNGUARDED_SERVERS } from "../../src/testkit/conformance/protocol/broken-servers.js";
import { conformanceScript } from "../../src/testkit/conformance/protocol/model-script.js";
import { runScenario } from "../../src/testkit/conformance/protocol/run-scenario.js";
import type { Scenario } from "../../src/testkit/conformance/protocol/scenario.js";
import { type BrokenServer, broken } from "../../src/testkit/conformance/protocol/spoil-server.js";
import { runSuite, SCENARIOS } from "../../src/testkit/conformance/protocol/suite.js";
import type { Ability } from "../../src/testkit/conformance/protocol/transport.js";
import { openTransport } from "../../src/testkit/conformance/protocol/transports/open-transport.js";
import { type MockModel, parseScript, startMockModel } from "../../src/testkit/index.js";
import { inProcessTransport } from "../support/conformance-inproc.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { serve } from "../support/served-engine.js";
import { isThorough } from "../support/thorough.js";
import { verifies } from "../verifies.js";

let folder: string;
let mock: MockModel;
let hosted: HostedEngine;
beforeAll(async () => {
  mock = await startMockModel({ script: parseScript(conformanceScript()) });
  folder = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  hosted = await hostEngine(folder, mock, { flags: ["--permission-mode", "ask"] });
});
afterAll(async () => {
  await hosted.engine.close();
  await mock.close();
  await rm(folder, { recursive: true, force: true });
});

describe("the conformance suite", () => {
  verifies(["C9", "C1", "C2", "C3", "L10", "P4"], "finds nothing wrong with this engine", async () => {
    const report = await runSuite(inProcessTransport(hosted.engine), { clock: systemClock });
    const notPassed = report.scenarios.filter(({ result }) => result.state !== "passed");
    expect(notPassed).toMatchObject([{ name: "token-forged" }, { name: "token-missing" }]);
    expect(report).toMatchObject({ passed: SCENARIOS.length - 2, failed: 0, skipped: 2 });
  });

  verifies(["C9", "C2"], "asks a server of an older version, or without a feature, only for what it has", async () => {
    const good = inProcessTransport(hosted.engine);
    const old: BrokenServer = {
      scenario: "",
      fault: "is of version 0.1.0 and has no features",
      spoil: ({ good: server }) => ({
        handshake: async (hello) => {
          const reply = await server.handshake(hello);
          const { handshake } = reply;
          return isJsonObject(handshake)
            ? { ...reply, handshake: { ...handshake, protocol_version: "0.1.0", features: [] } }
            : reply;
        },
        follow: async (request) => server.follow(request),
      }),
    };
    const report = await runSuite(broken(good, old), { clock: systemClock, only: "se" });
    const skipped = report.scenarios.flatMap(({ name, result }) => (result.state === "skipped" ? [name] : []));
    expect(report).toMatchObject({ failed: 0, protocol_version: "0.1.0" });
    expect(skipped).toEqual(expect.arrayContaining(["end-session", "end-session-in-turn", "stored-session"]));
    expect(skipped).not.toContain("send");
  });

  /** All of it runs in the thorough test. */
  const part = isThorough ? [""] : ["token-", "agent-alone", "resume-with-time"];

  verifies(
    ["C9", "C4", "C5", "P4"],
    "skips nothing over HTTP, WebSocket and a Unix socket with the owner's token alone",
    async () => {
      const served = await serve({ script: parseScript(conformanceScript()), flags: ["--permission-mode", "ask"] });
      onTestFinished(() => served.close());
      const options = { tokens: { human: served.token }, environment: {} };
      for (const address of [served.url, served.url.replace("http", "ws"), `unix:${served.socket}`]) {
        const transport = await openTransport(address, options);
        for (const only of part) {
          const report = await runSuite(transport, { clock: systemClock, only });
          expect(report.scenarios.filter(({ result }) => result.state !== "passed")).toEqual([]);
          expect(report.passed).toBeGreaterThan(0);
        }
        for (const server of UNGUARDED_SERVERS) {
          const scenario = SCENARIOS.find(({ name }) => name === server.scenario) as Scenario;
          const found = await runScenario(scenario, broken(transport, server), { clock: systemClock, patienceMs: 200 });
          expect([server.fault, found]).toMatchObject([server.fault, { state: "failed" }]);
        }
      }
    },
    120_000,
  );

  it("covers on one client what one client can show, and says why the rest needs two", async () => {
    const alone = { ...inProcessTransport(hosted.engine), abilities: new Set<Ability>(["agent"]) };
    const report = await runSuite(alone, { clock: systemClock, only: isThorough ? "" : "resume" });
    const skipped = report.scenarios.flatMap(({ result }) => (result.state === "skipped" ? [result.why] : []));
    expect(report.failed).toBe(0);
    expect(skipped.length).toBeGreaterThan(0);
    for (const reason of skipped) expect(reason).toMatch(/needs two clients|no token/);
  });

  it("names each scenario once, and describes it", () => {
    const names = SCENARIOS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
    expect(SCENARIOS.filter(({ rule }) => !rule.endsWith("."))).toEqual([]);
    expect(JSON.parse(JSON.stringify(SCENARIOS))).toEqual(SCENARIOS);
  });

  for (const server of BROKEN_SERVERS) {
    verifies(["C9"], `finds a server that ${server.fault} (${server.scenario})`, async () => {
      const scenario = SCENARIOS.find(({ name }) => name === server.scenario);
      if (scenario === undefined) throw new Error("there is no such scenario");
      const transport = broken(inProcessTransport(hosted.engine), server);
      const result = await runScenario(scenario, transport, { clock: systemClock, patienceMs: 200 });
      expect(result).toMatchObject({ state: "failed" });
    });
  }
});
