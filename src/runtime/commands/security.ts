/** Describes what the security commands of a run show and change. */
import { appendFile, mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import type { Variables } from "../../base/variables.js";
import type { ToolRegistry } from "../../engine/ports.js";
import { readCall } from "../../engine/read-call.js";
import type { Command } from "../../feature/command.js";
import type { Audit } from "../../security/audit/part.js";
import type { PermissionsState, RulePlace } from "../../security/permissions/command-texts.js";
import { permissionCommands, protectionCommands, replayCommand } from "../../security/permissions/commands.js";
import { safeModeCommands } from "../../security/safe-mode/commands.js";
import { CATALOG } from "../../tools/catalog.js";
import type { RunPermissions } from "../parts/permissions.js";
import type { RunSandbox } from "../parts/sandbox.js";
import { findSession } from "../sessions/find-session.js";
import type { SessionStores } from "../sessions/session-stores.js";

export interface SecurityPort {
  readonly permissions: RunPermissions;
  readonly sandbox: RunSandbox;
  /** The tools of the model now. */
  readonly tools: ToolRegistry;
  /** Those that come with Oxbow. */
  readonly toolbox: Pick<ToolRegistry, "find">;
  readonly variables: Variables;
  readonly sessions: SessionStores;
  /** The files that rules go to which outlive the session. */
  readonly ruleFiles: Readonly<Record<RulePlace, string>>;
  readonly audit: Audit;
}

export function securityCommands(port: SecurityPort): readonly Command[] {
  const { permissions, sandbox, sessions, tools } = port;
  return [
    ...permissionCommands(() => permissionsState(port)),
    ...safeModeCommands(async () => (await permissions.parts()).safeMode),
    ...protectionCommands(async () => {
      const { engine, safeMode } = await permissions.parts();
      return {
        ...(await permissionsState(port)),
        ...{ safeMode, planMode: engine.plan.on },
        decided: (call) => engine.decided(call),
        audit: () => port.audit.ring(),
        sandbox: () => sandbox.find(),
      };
    }),
    ...replayCommand({
      events: async (session) => {
        const store = await sessions.open();
        return store?.events((await findSession(store, session)).id);
      },
      rules: async () => {
        const { engine } = await permissions.parts();
        await permissions.findSandbox();
        const factsOf = async (name: string, input: Parameters<typeof readCall>[1]["args"]) => {
          const { tool, args } = readCall(tools, { tool: name, args: input });
          const definition = tools.find(tool);
          return definition && engine.factsOf({ tool: definition, args });
        };
        return { policy: engine.policy, factsOf };
      },
    }),
  ];
}

async function permissionsState(port: SecurityPort): Promise<PermissionsState> {
  const { permissions, toolbox, variables, ruleFiles } = port;
  const { engine, paths } = await permissions.parts();
  const bash = toolbox.find(CATALOG.bash.name);
  return {
    policy: () => engine.policy,
    session: engine.session,
    paths,
    home: variables.HOME || homedir(),
    test: async (command) => {
      // The decisions of mode auto depend on the sandbox.
      await permissions.findSandbox();
      return bash && engine.test({ tool: bash, args: { command } });
    },
    decided: (call) => engine.decided(call),
    keepRules: (toml, place) => keepRules(toml, ruleFiles[place], permissions),
  };
}

/** Writes only if the file stays valid. The rules hold at once. */
async function keepRules(toml: string, file: string, permissions: RunPermissions): Promise<string> {
  const { parse } = await import("smol-toml");
  const before = await readFile(file, "utf8").catch(() => "");
  const separator = before === "" || before.endsWith("\n") ? "" : "\n";
  parse(`${before}${separator}\n${toml}`);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await appendFile(file, `${separator}\n${toml}`, { mode: 0o600 });
  await (await permissions.parts()).addRules(parse(toml).permissions, file);
  return file;
}

/** Says why safe mode refuses a command that the user typed; undefined if it may run. */
export async function safeModeRefusal(permissions: RunPermissions, command: string): Promise<string | undefined> {
  const { engine, safeMode } = await permissions.parts();
  if (!(await safeMode.load()).on) return undefined;
  const verdict = await engine.test({ tool: CATALOG.bash, args: { command } });
  return verdict.law === "safe mode" ? verdict.reason : undefined;
}
