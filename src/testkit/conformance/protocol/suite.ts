/** The whole suite against one server, and its report. */
import type { Clock } from "../../../base/clock.js";
import { helloOf, runScenario, type ScenarioResult } from "./run-scenario.js";
import { type Scenario, VERSION_OF_SUITE } from "./scenario.js";
import { ALONE, TOKENS } from "./scenarios/alone.js";
import { HANDSHAKE } from "./scenarios/handshake.js";
import { PERMISSIONS } from "./scenarios/permissions.js";
import { READERS } from "./scenarios/readers.js";
import { TURNS } from "./scenarios/turns.js";
import type { ConformanceTransport } from "./transport.js";

export const SCENARIOS: readonly Scenario[] = [...HANDSHAKE, ...TOKENS, ...TURNS, ...READERS, ...PERMISSIONS, ...ALONE];

export interface SuiteOptions {
  readonly clock: Clock;
  readonly patienceMs?: number;
  /** Only those whose name contains it. */
  readonly only?: string | undefined;
  /** Called after each scenario. */
  readonly onResult?: (outcome: Outcome) => void;
}

export interface Outcome {
  readonly name: string;
  readonly rule: string;
  readonly since: string;
  readonly result: ScenarioResult;
  readonly ms: number;
}

export interface SuiteReport {
  readonly suite_version: string;
  readonly transport: string;
  /** As the server's handshake says; absent if there was none. */
  readonly protocol_version?: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly scenarios: readonly Outcome[];
}

export async function runSuite(given: ConformanceTransport, options: SuiteOptions): Promise<SuiteReport> {
  const { clock, patienceMs = 10_000, only = "" } = options;
  const version = await serverVersion(given);
  const transport = await withAgents(given);
  const outcomes: Outcome[] = [];
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(only))) {
    const started = clock.now();
    const result = isNewer(scenario.since, version)
      ? ({ state: "skipped", why: `it is of protocol ${scenario.since}, and the server has ${version}` } as const)
      : await runScenario(scenario, transport, { clock, patienceMs });
    const { name, rule, since } = scenario;
    const outcome = { name, rule, since, result, ms: Math.round(clock.now() - started) };
    outcomes.push(outcome);
    options.onResult?.(outcome);
  }
  const count = (state: ScenarioResult["state"]) => outcomes.filter(({ result }) => result.state === state).length;
  return {
    suite_version: VERSION_OF_SUITE,
    transport: transport.name,
    ...(version !== undefined && { protocol_version: version }),
    passed: count("passed"),
    failed: count("failed"),
    skipped: count("skipped"),
    scenarios: outcomes,
  };
}

/** A server that cannot even shake hands gets all scenarios, so that the report says what is wrong. */
async function serverVersion(transport: ConformanceTransport): Promise<string | undefined> {
  try {
    const connection = await transport.connect("human");
    const reply = await connection.handshake({ protocol_version: VERSION_OF_SUITE });
    await connection.drop();
    const { protocol_version: version } = reply.handshake as { readonly protocol_version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

/** Most servers let a client say that it works for an agent, also with the token of a human. */
async function withAgents(transport: ConformanceTransport): Promise<ConformanceTransport> {
  if (transport.abilities.has("agent")) return transport;
  try {
    const connection = await transport.connect("agent");
    const reply = await connection.handshake(helloOf("suite", "agent"));
    await connection.drop();
    const { identity } = reply.handshake as { readonly identity?: unknown };
    return identity === "agent" ? { ...transport, abilities: new Set([...transport.abilities, "agent"]) } : transport;
  } catch {
    return transport;
  }
}

/** Tells whether the rule came after the server's version. A server of another major version has to follow all rules of the suite. */
function isNewer(since: string, server: string | undefined): boolean {
  if (server === undefined) return false;
  const [major = 0, minor = 0] = since.split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = server.split(".").map(Number);
  return major === ownMajor && minor > ownMinor;
}
