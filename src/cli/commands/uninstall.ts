/**
 * `oxbow uninstall`: removes what Oxbow keeps for this user, and says what removes the program.
 *
 * 1. Nothing goes before the whole list was shown and a person said yes, or gave --yes.
 * 2. Only folders that are Oxbow's alone are removed. Folders that the user named for something else too stay, and so does what lies in
 *    projects.
 */
import { rmdirSync, rmSync, type Stats, unlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { formatBytes } from "../../base/byte-size.js";
import { UsageError } from "../../base/usage-error.js";
import type { Variables } from "../../base/variables.js";
import {
  asValue,
  COMMAND_EXIT,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  refuse,
} from "../../feature/command.js";
import { UNINSTALL } from "../../runtime/commands/program.js";
import { type RunningHelper, runningHelper } from "../../security/credentials/helper/running-helper.js";
import { statOf } from "../../system/git/git-folder.js";
import { namesIn } from "../../system/names-in.js";
import { isWithin } from "../../system/within.js";
import { type Roots, roots } from "../../system/xdg-paths.js";
import { reachEngine } from "../attach/reach.js";
import { findInstallation, type Installation } from "../installation.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "uninstall",
  specs: [UNINSTALL],
  about:
    "Removes what Oxbow keeps for you: settings, stored keys, sessions, logs, caches, links on PATH and the process of the credential helper. " +
    "It lists all of it and asks first, and says which command removes the program itself.",
  more: "Files in your projects (.oxbow, AGENTS.md) stay. Exit codes: 0 removed or listed · 1 something is left · 130 you said no.",
  open: async (_flags, variables) => ({
    commands: [{ ...UNINSTALL, run: (args, context) => uninstall(args, { variables, context }) }],
  }),
};

export const run = shellRunner(shell);

interface Plan {
  readonly folders: readonly OwnFolder[];
  /** Links on PATH that the user made. */
  readonly links: readonly string[];
  readonly helper: RunningHelper | undefined;
  readonly stays: readonly string[];
  readonly program: Installation;
}

interface OwnFolder {
  readonly name: keyof Roots;
  readonly path: string;
  readonly bytes: number;
}

const HOLDS: Readonly<Record<keyof Roots, string>> = {
  config: "settings, stored keys, approvals, your own extensions",
  data: "sessions, memories, knowledge, and the keys that decrypt them",
  state: "logs, long outputs, budgets, worktrees of subagents",
  cache: "what can be fetched or built again",
};

async function uninstall(
  args: CommandArguments,
  { variables, context }: { readonly variables: Variables; readonly context: CommandContext },
): Promise<CommandResult> {
  const plan = await makePlan(variables);
  const runs = await runningEngine(variables);
  if (args.hasFlag("dry-run"))
    return { text: [planText(plan, "Would remove:"), ...runs].join("\n"), value: planValue(plan, "no") };
  if (runs.length > 0) throw new UsageError(runs.join("\n"));
  if (plan.folders.length + plan.links.length === 0 && plan.helper === undefined)
    return { text: planText(plan, "To be removed:"), value: planValue(plan, "no") };
  if (!args.hasFlag("yes")) {
    const list = planText(plan, "To be removed:");
    if (context.wants === "value") context.warn(list);
    else await context.write(`${list}\n\n`);
    const question = "Remove all of this? Sessions and stored keys cannot be restored.";
    if (context.confirm === undefined) return refuse(`${question} Add --yes to do it without a question.`);
    if (!(await context.confirm(question)))
      return { text: "Nothing was removed.", value: planValue(plan, "no"), exitCode: COMMAND_EXIT.cancelled };
  }
  const left = await remove(plan, variables);
  const text = [planText(plan, "Removed:"), ...left.map((line) => `Not removed: ${line}`)].join("\n");
  const isAllGone = left.length === 0;
  return {
    text,
    value: planValue(plan, isAllGone ? "yes" : "partly"),
    ...(!isAllGone && { exitCode: COMMAND_EXIT.failed }),
  };
}

/** A sentence if there is one. Its folders must not go while it writes to them. */
async function runningEngine(variables: Variables): Promise<readonly string[]> {
  const reached = await reachEngine(variables, { name: "oxbow uninstall", canAnswer: false });
  if (reached.kind === "none") return [];
  if (reached.kind === "connected") await reached.client.close();
  return [`Oxbow runs here (process ${reached.pid ?? "of another system"}). End it first.`];
}

async function makePlan(variables: Variables): Promise<Plan> {
  const where = roots(variables);
  const program = findInstallation(variables);
  refuseShared(where, { variables, program });
  const folders = (["config", "data", "state", "cache"] as const)
    .map((name) => ({ name, path: where[name], found: statOf(where[name]) }))
    .flatMap(({ name, path, found }) => (found === undefined ? [] : [{ name, path, bytes: sizeOf(path, found) }]));
  return {
    folders,
    links: program.links.filter(({ isOfNpm }) => !isOfNpm).map(({ path }) => path),
    helper: await runningHelper(variables),
    stays: staying(where, variables),
    program,
  };
}

/** With OXBOW_HOME the folders have common names: they count as Oxbow's only if nothing else lies beside them. */
function refuseShared(
  where: Roots,
  { variables, program }: { readonly variables: Variables; readonly program: Installation },
): void {
  const folders = Object.values(where);
  const around = folders.find((folder) => isWithin(program.root, folder));
  if (around !== undefined)
    throw new UsageError(
      `${around} also holds the program (${program.root}). Move one of them, or remove them yourself.`,
    );
  const home = variables.OXBOW_HOME && resolve(variables.OXBOW_HOME);
  if (!home) return;
  const others = namesIn(home).filter((name) => !folders.includes(join(home, name)));
  if (others.length === 0) return;
  const some = others.length > 3 ? [...others.slice(0, 3), "…"] : others;
  throw new UsageError(
    `${home} holds other files as well (${some.join(", ")}), so Oxbow removes nothing there. Remove its folders yourself if they are Oxbow's: config, data, state and cache.`,
  );
}

function staying(where: Roots, { OXBOW_SESSIONS }: Variables): readonly string[] {
  const has = (name: string) => statOf(join(where.data, name)) !== undefined;
  const isKeyElsewhere = has("sessions.db") && !has("sessions.key") && !has("sessions.salt");
  return [
    ...(OXBOW_SESSIONS ? [`${resolve(OXBOW_SESSIONS)}: sessions (OXBOW_SESSIONS)`] : []),
    ...(isKeyElsewhere ? ["keys named oxbow-… in the keychain of this system, if you chose it"] : []),
    "files in your projects (.oxbow, AGENTS.md)",
  ];
}

/** Returns what is left, with the reason. */
async function remove({ folders, links, helper }: Plan, { OXBOW_HOME }: Variables): Promise<readonly string[]> {
  await helper?.stop();
  const left: string[] = [];
  const attempt = (path: string, action: () => void) => {
    try {
      action();
    } catch (error) {
      left.push(`${path}: ${(error as Error).message}`);
    }
  };
  for (const { path } of folders) attempt(path, () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  for (const path of links) attempt(path, () => unlinkSync(path));
  if (OXBOW_HOME && left.length === 0) attempt(OXBOW_HOME, () => removeEmpty(OXBOW_HOME));
  return left;
}

function removeEmpty(folder: string): void {
  if (statOf(folder) !== undefined && namesIn(folder).length === 0) rmdirSync(folder);
}

function planText({ folders, links, helper, stays, program }: Plan, title: string): string {
  const rows: (readonly [string, string])[] = [
    ...folders.map(({ name, path, bytes }) => [name, `${path} (${formatBytes(bytes)}: ${HOLDS[name]})`] as const),
    ...links.map((path) => ["link", path] as const),
    ...(helper === undefined
      ? []
      : [["process", `${helper.pid}, the credential helper, which holds stored keys`] as const]),
  ];
  const lines =
    rows.length === 0
      ? ["  nothing: Oxbow keeps nothing here"]
      : rows.map(([name, text]) => `  ${name.padEnd(8)}${text}`);
  return [
    title,
    ...lines,
    "Stays:",
    ...stays.map((line) => `  ${line}`),
    `  the program, which ${program.about}. To remove it:`,
    ...program.remove.map((line) => `    ${line}`),
  ].join("\n");
}

function planValue({ folders, links, helper, stays, program }: Plan, removed: "yes" | "no" | "partly") {
  const { kind, root, remove: commands } = program;
  return asValue({
    removed,
    folders,
    links,
    process: helper?.pid ?? null,
    stays,
    program: { kind, root, remove: commands },
  });
}

function sizeOf(path: string, found: Stats): number {
  if (!found.isDirectory()) return found.size;
  return namesIn(path).reduce((total, name) => {
    const inner = statOf(join(path, name));
    return total + (inner === undefined ? 0 : sizeOf(join(path, name), inner));
  }, 0);
}
