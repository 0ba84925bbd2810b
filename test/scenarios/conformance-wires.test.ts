/** The conformance suite on our own server, over each wire. */
import { afterAll, beforeAll, describe, expect } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { conformanceScript } from "../../src/testkit/conformance/protocol/model-script.js";
import { runScenario } from "../../src/testkit/conformance/protocol/run-scenario.js";
import { SCENARIOS } from "../../src/testkit/conformance/protocol/suite.js";
import { openTransport } from "../../src/testkit/conformance/protocol/transports/open-transport.js";
import { parseScript } from "../../src/testkit/index.js";
import { fitsMcp, mcpTransport } from "../support/mcp-wire.js";
import { oxbow } from "../support/program.js";
import { type Served, serve } from "../support/served-engine.js";
import { sample } from "../support/thorough.js";
import { verifies } from "../verifies.js";

let served: Served;
let agent: string;
beforeAll(async () => {
  served = await serve({ script: parseScript(conformanceScript()), flags: ["--permission-mode", "ask"], mcp: true });
  agent = (await served.served.tokens.make({ identity_class: "agent" })).token;
});
afterAll(() => served.close());

const WIRES: readonly [name: string, address: () => string][] = [
  ["http", () => served.url],
  ["unix", () => `unix:${served.socket}`],
  ["ws", () => served.url.replace(/^http/, "ws")],
];

describe("the conformance suite", () => {
  for (const [name, address] of WIRES) {
    verifies(["C9", "C3"], `finds nothing wrong with the server over ${name}`, async () => {
      const transport = await openTransport(address(), { tokens: { human: served.token, agent }, environment: {} });
      const problems: string[] = [];
      for (const scenario of sample(SCENARIOS, 6)) {
        const result = await runScenario(scenario, transport, { clock: systemClock, patienceMs: 10_000 });
        if (result.state !== "passed") problems.push(`${scenario.name}: ${JSON.stringify(result)}`);
      }
      await transport.close();
      expect(problems).toEqual([]);
    });
  }

  verifies(["C9", "C8"], "finds nothing wrong with what an agent may do over MCP", async () => {
    const transport = mcpTransport(served.url, served.token);
    const played = SCENARIOS.filter(fitsMcp);
    expect(played.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["send", "cancel", "reconnect", "stream-gap"]),
    );
    const problems: string[] = [];
    for (const scenario of sample(played, 6)) {
      const result = await runScenario(scenario, transport, { clock: systemClock, patienceMs: 10_000 });
      if (result.state !== "passed") problems.push(`${scenario.name}: ${JSON.stringify(result)}`);
    }
    await transport.close();
    expect(problems).toEqual([]);
  });

  verifies(["C9"], "runs from the command line, with a report for people and for programs", async () => {
    const env = { OXBOW_TOKEN: served.token };
    const args = ["conformance", "--against", served.url, "--only", "send"];
    const told = await oxbow(args, { env });
    expect(told).toMatchObject({ code: 0, stderr: "" });
    expect(told.stdout).toMatch(/^✓ send \(\d+ ms\)$/m);
    expect(told.stdout).toContain("1 passed, 0 failed, 0 skipped · http, protocol 0.2.0");
    const report = JSON.parse((await oxbow([...args, "--json"], { env })).stdout);
    expect(report).toMatchObject({ passed: 1, failed: 0, scenarios: [{ name: "send", result: { state: "passed" } }] });
    const without = await oxbow(args, {});
    expect(without.code).toBe(1);
    expect(without.stdout).toContain("✗ send");
    expect((await oxbow(["conformance", "--against", "gopher:x"], {})).code).toBe(2);
    expect((await oxbow(["conformance", "--model-script"], {})).stdout).toContain("conformance: ask");
  });
});
