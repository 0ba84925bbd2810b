/** `/permissions`, `/safemode`, `/why` and `/security`; `oxbow permissions` is made of the same commands. */
import type { Variables } from "../../base/variables.js";
import {
  PERMISSIONS_LIST,
  PERMISSIONS_PROMOTE,
  PERMISSIONS_RESET,
  PERMISSIONS_REVOKE,
  PERMISSIONS_SET,
  PERMISSIONS_TEST,
  SAFEMODE_ALLOW,
  SAFEMODE_DENY,
  SAFEMODE_OFF,
  SAFEMODE_ON,
  SAFEMODE_RESET,
  SAFEMODE_STATUS,
  SECURITY,
  WHY,
} from "../../commands/catalogue/security.js";
import { type Command, type CommandResult, type CommandSpec, refuse } from "../../commands/command.js";
import type { ToolRegistry } from "../../engine/ports.js";
import type { AuditRing } from "../../security/audit/audit-ring.js";
import { auditStatus } from "../../security/audit/commands.js";
import {
  type CommandText,
  listPermissions,
  type PermissionsState,
  permissionsText,
  promote,
  type RulePlace,
  resetPath,
  revoke,
  securityText,
  setPath,
  testCommand,
  why,
} from "../../security/permissions/commands.js";
import type { StateFile } from "../../security/permissions/state-file.js";
import {
  changeSafeMode,
  describeSafeMode,
  type SafeModeAction,
  type SafeModeState,
} from "../../security/safe-mode/safe-mode.js";
import { describeSandbox } from "../../security/sandbox/state.js";
import type { RunPermissions } from "../parts/permissions.js";
import type { RunSandbox } from "../parts/sandbox.js";

export interface SecurityPort {
  readonly permissions: RunPermissions;
  readonly sandbox: RunSandbox;
  readonly tools: ToolRegistry;
  readonly variables: Variables;
  ring(): Promise<AuditRing>;
  keepRules(toml: string, place: RulePlace): Promise<string>;
}

export function securityCommands(port: SecurityPort): readonly Command[] {
  const { permissions } = port;
  return [
    ...permissionCommands(() => permissionsState(port)),
    ...safeModeCommands(async () => (await permissions.parts()).safeMode),
    {
      ...WHY,
      run: async (args) => {
        const { engine } = await permissions.parts();
        return answer(why(args.text("CALL"), (call) => engine.decided(call), (await port.ring()).entries()));
      },
    },
    { ...SECURITY, run: () => overview(port) },
  ];
}

/** The exit code of `oxbow permissions test` gives a script the decision. */
const EXIT_CODES = { allow: 0, ask: 4, deny: 1 } as const;

export function permissionCommands(state: () => Promise<PermissionsState>): readonly Command[] {
  return [
    { ...PERMISSIONS_LIST, run: async () => answer(listPermissions(await state())) },
    {
      ...PERMISSIONS_TEST,
      run: async (args) => {
        const result = answer(await testCommand(args.text("COMMAND") ?? "", await state()));
        if ("failure" in result) return result;
        const { decision } = result.value as { readonly decision: keyof typeof EXIT_CODES };
        return { ...result, exitCode: EXIT_CODES[decision] };
      },
    },
    {
      ...PERMISSIONS_SET,
      run: async (args) => {
        const [path = "", access = ""] = [args.text("PATH"), args.text("PERMS")];
        return answer(await setPath({ path, access }, await state()));
      },
    },
    { ...PERMISSIONS_RESET, run: async (args) => answer(await resetPath(args.text("PATH"), await state())) },
    { ...PERMISSIONS_REVOKE, run: async (args) => answer(revoke(args.text("N") ?? "", (await state()).session)) },
    {
      ...PERMISSIONS_PROMOTE,
      run: async (args) => {
        const wanted = { which: args.text("N") ?? "", where: args.text("WHERE") };
        return answer(await promote(wanted, await state()));
      },
    },
  ];
}

async function permissionsState(port: SecurityPort): Promise<PermissionsState> {
  const { engine, paths } = await port.permissions.parts();
  const { homedir } = await import("node:os");
  const bash = port.tools.find("bash");
  return {
    policy: () => engine.policy,
    session: engine.session,
    paths,
    home: port.variables.HOME || homedir(),
    test: async (command) => {
      // The decisions of mode auto depend on the sandbox.
      await port.permissions.findSandbox();
      return bash && engine.test({ tool: bash, args: { command } });
    },
    decided: (call) => engine.decided(call),
    keepRules: (toml, place) => port.keepRules(toml, place),
  };
}

const SAFE_MODE: readonly (readonly [CommandSpec, SafeModeAction])[] = [
  [SAFEMODE_STATUS, "status"],
  [SAFEMODE_ON, "on"],
  [SAFEMODE_OFF, "off"],
  [SAFEMODE_ALLOW, "allow"],
  [SAFEMODE_DENY, "deny"],
  [SAFEMODE_RESET, "reset"],
];

export function safeModeCommands(file: () => Promise<StateFile<SafeModeState>>): readonly Command[] {
  return SAFE_MODE.map(([spec, action]) => ({
    ...spec,
    run: async (args) => {
      const reply = await changeSafeMode(action, args.text("PROGRAM") ?? "", await file());
      return reply.ok ? { text: reply.text, value: { ...reply.state } } : refuse(reply.text);
    },
  }));
}

async function overview(port: SecurityPort): Promise<CommandResult> {
  const { engine, safeMode } = await port.permissions.parts();
  const policy = { policy: () => engine.policy, session: engine.session };
  const sandbox = describeSandbox(await port.sandbox.find());
  const listed = listPermissions(policy);
  const safe = await safeMode.load();
  const ring = await port.ring();
  return {
    text: securityText({
      sandbox,
      safeMode: describeSafeMode(safe),
      permissions: permissionsText(policy),
      audit: auditStatus(ring),
      planMode: engine.plan.on,
    }),
    value: {
      sandbox,
      permissions: listed.ok ? listed.value : null,
      safe_mode: { ...safe },
      plan_mode: engine.plan.on,
      audit: { entries: ring.entries().length },
    },
  };
}

function answer(result: CommandText): CommandResult {
  return result.ok ? { text: result.text, value: result.value } : refuse(result.text);
}
