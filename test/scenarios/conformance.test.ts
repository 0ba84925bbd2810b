/** The conformance suite on our own engine, and on servers with a fault. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { isJsonObject } from "../../src/protocol/json.js";
import { BROKEN_SERVERS } from "../../src/testkit/conformance/protocol/broken-servers.js";
import { conformanceScript } from "../../src/testkit/conformance/protocol/model-script.js";
import { runScenario } from "../../src/testkit/conformance/protocol/run-scenario.js";
import { type BrokenServer, broken } from "../../src/testkit/conformance/protocol/spoil-server.js";
import { runSuite, SCENARIOS } from "../../src/testkit/conformance/protocol/suite.js";
import { type MockModel, parseScript, startMockModel } from "../../src/testkit/index.js";
import { inProcessTransport } from "../support/conformance-inproc.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
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
    expect(notPassed).toEqual([]);
    expect(report).toMatchObject({ passed: SCENARIOS.length, failed: 0, skipped: 0 });
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
      const result = await runScenario(scenario, transport, { clock: systemClock, patienceMs: 400 });
      expect(result).toMatchObject({ state: "failed" });
    });
  }
});
