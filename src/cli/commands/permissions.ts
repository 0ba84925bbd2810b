/** `oxbow permissions …`: the rules as they stand, what they would decide, and what they would have decided (features P1, P5). */

import { join, resolve } from "node:path";
import { safeText } from "../../base/terminal-text.js";
import { createIdSource } from "../../base/ulid.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import { helpLines, type ParsedFlags, parseFlags, unknownAction } from "../../commands/flags.js";
import { Bus } from "../../engine/bus.js";
import type { ToolCall } from "../../engine/ports.js";
import { refuseAgents } from "../../runtime/agent-limits.js";
import { RunGuard } from "../../runtime/parts/guard.js";
import { RunPermissions } from "../../runtime/parts/permissions.js";
import { RunSandbox } from "../../runtime/parts/sandbox.js";
import { RunSecurity } from "../../runtime/parts/security.js";
import { openToolbox } from "../../runtime/parts/toolbox.js";
import { findSession } from "../../runtime/sessions/find-session.js";
import { SessionStores } from "../../runtime/sessions/session-stores.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { nodeClock } from "../../system/node-clock.js";
import { openRoot } from "../../tools/files/workspace-root.js";
import { EXIT } from "../exit-codes.js";

const FLAGS = [
  { name: "permission-mode", value: "MODE", help: "as a run with this mode would decide" },
  { name: "strict-permissions", help: "as a run with this flag would decide" },
  { name: "cwd", value: "DIR", help: "the workspace (default: where you are)" },
  { name: "store", value: "STORE", help: "where the session of 'replay' is kept" },
  { name: "json", help: "for programs" },
  { name: "help", short: "h", help: "show this help" },
];

const USAGE = `Usage: oxbow permissions [ACTION]

  list                       mode, rules and path permissions (the default)
  test COMMAND               what would be decided about a shell command, and why
  replay SESSION             what today's rules would have decided about its calls
  set PATH rwxd              what may be done below PATH: letters of rwxd, or none
  reset [PATH]               remove one path permission, or all
  safemode on|off|status|allow CMD|deny CMD|reset

`;

const ACTIONS = ["list", "test", "replay", "set", "reset", "safemode"];

export async function run(args: readonly string[], variables: Variables): Promise<number> {
  const flags = parseFlags(FLAGS, args, "permissions");
  if (flags.has("help")) {
    process.stdout.write(`${USAGE}${helpLines(FLAGS)}\n`);
    return EXIT.answered;
  }
  const [action = "list", ...rest] = flags.words;
  if (!ACTIONS.includes(action)) throw unknownAction("permissions", action, ACTIONS);
  const place = await openPlace(flags, variables);
  try {
    if (action === "test") return await test(rest.join(" "), flags, place);
    if (action === "replay") return await replay(rest[0], flags, place);
    const words = rest.join(" ");
    refuseChanges(`${action} ${words}`, variables);
    const result =
      action === "safemode"
        ? await place.security.safeMode(words)
        : await place.security.permissions(`${action} ${words}`);
    if ("failure" in result) throw new UsageError(result.failure.message);
    process.stdout.write(flags.has("json") ? `${JSON.stringify({ text: result.text })}\n` : `${result.text}\n`);
    return EXIT.answered;
  } finally {
    await place.close();
  }
}

/** The words are split as `/permissions` splits them, so that quotation marks hide no action. */
function refuseChanges(words: string, variables: Variables): void {
  const [verb = "list", second = ""] = words.trim().split(/\s+/);
  if (verb === "list" || (verb === "safemode" && (second === "" || second === "status"))) return;
  refuseAgents(variables, `'oxbow permissions ${verb}'`);
}

type Place = Awaited<ReturnType<typeof openPlace>>;

export async function openPlace(flags: ParsedFlags, variables: Variables) {
  const loaded = await loadSettings(flags, variables);
  const { settings, roots } = loaded;
  const root = await openRoot(resolve(flags.text("cwd") ?? process.cwd()));
  const notify = (message: string) => void process.stderr.write(`oxbow: ${message}\n`);
  const stores = new SessionStores({ settings, roots, variables, root, notify, hint: () => {} });
  const ids = createIdSource({ wall: Date.now, random: (bytes) => crypto.getRandomValues(bytes) });
  const session = ids.next("sess");
  const outputDirectory = join(roots.state, "output");
  const hidden = stores.ownFolders;
  const guard = new RunGuard({ root, variables, ownFolders: hidden });
  const tools = openToolbox({ root, sets: settings.tool_sets.value, variables, outputDirectory, guard });
  const isRecorded = async () => (await stores.choice()).kind !== "none";
  const place = { loaded, variables, root, session, outputDirectory, hidden };
  const sandbox = new RunSandbox({ ...place, notify: () => {}, isRecorded });
  const isSandboxed = async () => (await sandbox.find()).kind !== "none";
  const permissions = new RunPermissions({
    loaded,
    variables,
    root,
    ownFolders: hidden,
    guard,
    workspace: tools.workspace,
    isSandboxed,
    whyNotContained: () => sandbox.whyNotContained(),
    originator: () => "human",
  });
  const bus = new Bus({ session, originator: ids.next("cli"), clock: nodeClock });
  const { profilePath } = loaded;
  const security = new RunSecurity({ bus, permissions, sandbox, tools, variables, profilePath });
  const judge = (tool: string, input: ToolCall["args"]) => {
    const definition = tools.find(tool);
    return definition && permissions.judge({ call: ids.next("call"), tool, args: input }, definition);
  };
  return {
    stores,
    tools,
    permissions,
    security,
    judge,
    close: async () => {
      await tools.close();
      await sandbox.close();
      await stores.close();
    },
  };
}

/** Exit code 0 when it would run unasked, 4 when a person would be asked, 1 when it would be denied. */
async function test(command: string, flags: ParsedFlags, { judge }: Place): Promise<number> {
  if (command.trim() === "") throw new UsageError('Give the command: oxbow permissions test "git push"');
  const verdict = await judge("bash", { command });
  if (verdict === undefined) throw new UsageError("The tool set 'command' is off.");
  const { explain } = await import("../../security/permissions/explain.js");
  const { decision, decidedBy, reason, about } = verdict;
  const value = { command, decision, decided_by: decidedBy, reason, ...(about !== undefined && { about }) };
  process.stdout.write(flags.has("json") ? `${JSON.stringify(value, null, 2)}\n` : `${safeText(explain(verdict))}\n`);
  return { allow: EXIT.answered, ask: EXIT.denied, deny: EXIT.failed }[decision];
}

async function replay(typed: string | undefined, flags: ParsedFlags, place: Place): Promise<number> {
  if (typed === undefined) throw new UsageError("Which session? oxbow permissions replay ID");
  const store = await place.stores.open();
  if (store === undefined) throw new UsageError("Sessions are not stored here.");
  const { id } = await findSession(store, typed);
  const { replayDecisions, replayText } = await import("../../security/permissions/replay-decisions.js");
  const { engine } = await place.permissions.parts();
  await place.permissions.findSandbox();
  const replayed = await replayDecisions(store.events(id), engine.policy, async (tool, input) => {
    const definition = place.tools.find(tool);
    return definition && engine.factsOf({ tool: definition, args: input });
  });
  process.stdout.write(
    flags.has("json") ? `${JSON.stringify(replayed, null, 2)}\n` : `${safeText(replayText(replayed))}\n`,
  );
  return EXIT.answered;
}
