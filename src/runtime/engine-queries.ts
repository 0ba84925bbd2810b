/** What an engine answers to queries. The code of an answer loads when a client asks. */
import type { Clock } from "../base/clock.js";
import type { CommandRegistry } from "../commands/registry.js";
import type { QueryPorts } from "../control/answers.js";
import type { Run } from "../control/run.js";
import type { WorkspaceFiles } from "../tools/search/file-index.js";
import type { HostedRuns } from "./hosted-runs.js";
import type { EngineOptions, PartState } from "./open-engine.js";
import { queryPorts } from "./queries.js";

interface EngineState {
  readonly options: EngineOptions;
  readonly clock: Clock;
  /** Where other programs reach the engine over HTTP. */
  readonly addresses: () => readonly string[];
  readonly commandsOf: (run: Run) => Promise<CommandRegistry | undefined>;
  readonly reports: ReadonlyMap<string, () => PartState | Promise<PartState>>;
}

export function engineQueries(
  runs: HostedRuns,
  { options, clock, addresses, commandsOf, reports }: EngineState,
): QueryPorts {
  const placeOf = (run: Run | undefined) => runs.placeOf(run);
  let files: Promise<WorkspaceFiles> | undefined;
  const workspaceFiles = () => {
    files ??= import("../tools/search/file-index.js").then(
      (module) => new module.WorkspaceFiles(clock, options.variables.PATH),
    );
    return files;
  };
  return queryPorts({
    sessions: options.sessions,
    placeOf,
    commands: async (run) => {
      const { commandInfos } = await import("./commands/catalogue.js");
      const registry = run && (await commandsOf(run));
      return commandInfos(registry?.list());
    },
    permissionsOf: (run) => runs.get(run)?.permissions,
    place: async (run) => {
      const opened = runs.get(run);
      if (opened === undefined) return undefined;
      const status = await (await placeLists()).placeStatus(opened, opened.place);
      return addresses().length === 0 ? status : { ...status, addresses: addresses() };
    },
    cwd: (run) => placeOf(run).root,
    startedAt: new Date(clock.wall()).toISOString(),
    parts: async () => (await import("./health.js")).partStates({ ...options, reports }),
    profiles: async (run) => (await placeLists()).profilesOf(placeOf(run), options),
    skills: async (run) => (await placeLists()).skillsOf(placeOf(run)),
    skill: async (run, name) => (await placeLists()).skillOf(placeOf(run), name),
    mcpServers: async (run) => {
      const { SERVERS } = await import("../extensions/mcp/registry.js");
      return SERVERS.states(run && placeOf(run).root);
    },
    extensions: async (run) => (await placeLists()).extensionSections(placeOf(run).content?.extensions),
    waiting: async (run, request) =>
      (await import("../security/trust/waiting-answers.js")).listWaiting(placeOf(run), request),
    files: async (run, query, limits) => (await workspaceFiles()).find(placeOf(run).root, query, limits),
  });
}

const placeLists = () => import("./place-lists.js");
