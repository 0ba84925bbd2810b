/** The state of each part of an engine, for `/health`, `oxbow status` and `GET /v1/health`. Looks only; starts nothing. */
import { counted } from "../base/group-digits.js";
import type { Variables } from "../base/variables.js";
import { runningHelper } from "../security/credentials/helper/running-helper.js";
import type { PartState } from "./open-engine.js";
import type { SessionStores } from "./sessions/session-stores.js";

export interface HealthSources {
  readonly sessions: SessionStores;
  readonly variables: Variables;
  /** Those that parts tell themselves: listeners, MCP servers. */
  readonly reports: ReadonlyMap<string, () => PartState | Promise<PartState>>;
}

export async function partStates({
  sessions,
  variables,
  reports,
}: HealthSources): Promise<Readonly<Record<string, PartState>>> {
  const checks: readonly (readonly [string, () => PartState | Promise<PartState>])[] = [
    ["sessions", () => storeState(sessions)],
    ["credential helper", () => helperState(variables)],
    ["MCP", mcpState],
    ...reports,
  ];
  const states = checks.map(async ([name, check]) => [name, await stateOf(check)] as const);
  return Object.fromEntries(await Promise.all(states));
}

/** A part that cannot even say how it is does not work. */
async function stateOf(check: () => PartState | Promise<PartState>): Promise<PartState> {
  try {
    return await check();
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

async function storeState(sessions: SessionStores): Promise<PartState> {
  const choice = await sessions.choice();
  if (choice.kind === "none") return { ok: true, detail: "not stored" };
  const store = await sessions.open();
  if (store === undefined) return { ok: false, detail: `Oxbow cannot open ${choice.kind}: see 'oxbow doctor'` };
  return { ok: true, detail: `${choice.kind} in ${choice.folder}` };
}

/** The servers that sessions use now; the last session that leaves stops them. */
async function mcpState(): Promise<PartState> {
  const { SERVERS } = await import("../extensions/mcp/registry.js");
  const servers = SERVERS.states();
  if (servers.length === 0) return { ok: true, detail: "no server in use" };
  const lines = servers.map(({ name, state, tools, users, detail }) => {
    const counts = `${state}, ${counted(tools, "tool")}, ${counted(users, "session")}`;
    return `${name}: ${counts}${detail === undefined ? "" : ` (${detail})`}`;
  });
  return { ok: servers.every(({ state }) => state !== "down"), detail: lines.join("; ") };
}

async function helperState(variables: Variables): Promise<PartState> {
  const helper = await runningHelper(variables);
  if (helper === undefined) return { ok: true, detail: "not running; it starts when a stored key is needed" };
  return { ok: true, detail: `process ${helper.pid}, version ${helper.version}` };
}
