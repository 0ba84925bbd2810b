/** `oxbow sources` and `oxbow hooks`, also as `/sources` and `/hooks`. */

import { relative } from "node:path";
import { safeLine } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import { STAGES } from "../../chain/order.js";
import { programName } from "../../extensions/executable/chosen-files.js";
import { HOOK_STAGES, type HookStage, hookPlace } from "../../extensions/executable/hooks.js";
import { pluginSettings } from "../../extensions/plugins/settings.js";
import {
  asValue,
  type Command,
  type CommandContext,
  type CommandOf,
  EVERYONE,
  EVERYWHERE,
  FOLDER,
  type OpenShell,
  type Subject,
  spell,
  withPort,
} from "../../feature/command.js";
import { flagsOf } from "../../feature/setting.js";
import { labelOf } from "../../security/trust/content.js";
import { projectTop } from "../../security/trust/folders.js";
import type { ListedExtension } from "../../security/trust/list-extensions.js";
import { isWithin } from "../../system/within.js";
import { homeFolder } from "../../system/xdg-paths.js";
import { approver, openApprovals } from "../content/approvals.js";
import { listExtensions } from "../content/find-extensions.js";
import type { InstructionFile } from "../content/instruction-files.js";
import { isKept } from "../parts/executables.js";
import { type LoadedSettings, loadSettings } from "../settings/settings.js";

export interface SourcesPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
}

const LISTS = { shellFlags: [FOLDER, ...flagsOf(pluginSettings)], users: EVERYONE, places: EVERYWHERE };

const SOURCES: readonly CommandOf<SourcesPlace>[] = [
  {
    ...LISTS,
    name: "sources:list",
    aliases: ["sources"],
    summary: "list the folders with extensions, what they hold, and what waits for approval",
    reaches: "session",
    run: (_args, place, context) => sources(place, context),
  },
  {
    name: "sources:allow",
    summary: "run approved programs of this project from now on, without --allow-project-hooks",
    shellFlags: [FOLDER],
    places: EVERYWHERE,
    run: (_args, place, context) => decidePrograms(place, "run", context),
  },
  {
    name: "sources:revoke",
    summary: "run them only with --allow-project-hooks again",
    shellFlags: [FOLDER],
    places: EVERYWHERE,
    run: (_args, place, context) => decidePrograms(place, "ask", context),
  },
];

const HOOKS_SUMMARY = "list the hooks of each stage, in the order they run, and the event hooks";

const HOOKS: readonly CommandOf<SourcesPlace>[] = [
  {
    ...LISTS,
    name: "hooks",
    summary: HOOKS_SUMMARY,
    reaches: "session",
    run: (_args, place) => hooks(place),
  },
];

export function sourceCommands(place: SourcesPlace): readonly Command[] {
  return withPort([...SOURCES, ...HOOKS], () => place);
}

const openShell: OpenShell = async ({ flags, variables, root }) => ({
  commands: sourceCommands({ loaded: await loadSettings(flags, variables), variables, root: await root() }),
});

const HEADING = "Subagents, skills and extensions";

export const subject: Subject = {
  name: "sources",
  summary: "folders with extensions, and whether programs of this project run",
  heading: HEADING,
  specs: SOURCES,
  shell: {
    about:
      "Lists the folders that hold tools, hooks, commands, skills and other extensions, what is in them, what hides what, and what waits for your approval.",
    open: openShell,
  },
};

export const hooksSubject: Subject = {
  name: "hooks",
  summary: HOOKS_SUMMARY,
  heading: HEADING,
  specs: HOOKS,
  shell: {
    about:
      "Lists the hooks of each stage, built in and from folders, in the order they run, and the event hooks of settings.",
    open: openShell,
  },
};

function lockOf({ loaded: { roots }, variables, root }: SourcesPlace) {
  return openApprovals(root, { roots, variables });
}

type Typed = Pick<CommandContext, "surface">;

/** Tells how a person takes it back that programs of the project run. */
function takesBack(context: Typed): string {
  const typed = spell("sources:revoke", context);
  return context.surface === "slash" ? typed : `'${typed}'`;
}

function decidePrograms(place: SourcesPlace, programs: "run" | "ask", context: Typed) {
  const lock = lockOf(place);
  const top = projectTop(place.root);
  const wasOn = lock.programsRun(top) !== undefined;
  if (wasOn !== (programs === "run"))
    lock.decidePrograms(top, programs, { by: approver(place.variables), at: new Date() });
  const text =
    programs === "run"
      ? `Approved programs in ${safeLine(top)} run from now on; ${takesBack(context)} takes it back.`
      : wasOn
        ? `Programs in ${safeLine(top)} run only with --allow-project-hooks again.`
        : `Programs in ${safeLine(top)} run only with --allow-project-hooks already.`;
  return { text, value: asValue({ folder: top, programs }) };
}

/** The line about programs of the project, if they run without a flag. */
function programsLine(place: SourcesPlace, context: Typed): readonly string[] {
  const since = lockOf(place).programsRun(projectTop(place.root))?.at.slice(0, 10);
  return since === undefined
    ? []
    : [`Approved programs of this project run since ${since}: ${takesBack(context)} takes it back.`, ""];
}

async function sources(place: SourcesPlace, context: Typed) {
  const { items, unusable } = await listExtensions(place);
  const programs = programsLine(place, context);
  const folders = [...new Set(items.map(({ source }) => source))];
  const kinds = Math.max(0, ...items.map(({ kind }) => labelOf(kind).length));
  const lines = folders.flatMap((folder) => {
    const own = items.filter(({ source }) => source === folder);
    const names = Math.max(...own.map((item) => titleOf(item).length));
    return [
      `${shownPath(folder, place)} (${own[0]?.scope === "user" ? "yours" : "project"})`,
      ...own.map(
        (item) => `  ${labelOf(item.kind).padEnd(kinds)}  ${titleOf(item).padEnd(names)}  ${stateOf(item, place)}`,
      ),
      "",
    ];
  });
  const broken = unusable.map(({ path, problem }) => `${shownPath(path, place)} ${safeLine(problem)}; left out.`);
  const waiting = items.filter(({ state }) => state === "waiting").length;
  const advice = waiting === 0 ? [] : [`${waiting} waiting: 'oxbow ack' shows and approves them.`];
  const { lines: instructions, files } = await instructionLines(place);
  const text = [...programs, ...lines, ...broken, ...advice, ...instructions].join("\n").trimEnd();
  return {
    text: text === "" ? "No folder here holds extensions." : text,
    value: asValue({ items, unusable, instructions: files, programs_run: programs.length > 0 }),
  };
}

async function instructionLines(place: SourcesPlace) {
  const { listInstructions, wantedSources } = await import("../content/instruction-files.js");
  const files = await listInstructions(place);
  if (files.length === 0) return { lines: [], files };
  const names = Math.max(...files.map(({ path }) => shownPath(path, place).length));
  const lines = files.map((file) => `  ${shownPath(file.path, place).padEnd(names)}  ${instructionState(file)}`);
  const wanted = wantedSources(files, place);
  const advice = wanted === undefined ? [] : [`To read all of them: ${wanted}`];
  return { lines: ["instruction files", ...lines, ...advice], files };
}

/** `not read: not in context_sources`. */
export function instructionState({ state, why }: InstructionFile): string {
  const words = state === "waiting" ? "waits for your approval" : state;
  return why === undefined ? words : `${words}: ${safeLine(why)}`;
}

async function hooks(place: SourcesPlace) {
  const { items } = await listExtensions(place);
  const files = items.filter(({ kind, executable }) => kind === "hook" && executable);
  const rows = HOOK_STAGES.map((stage) => ({ stage, hooks: hooksOf(stage, files) }));
  const lines = rows.flatMap(({ stage, hooks: own }) => {
    const width = Math.max(0, ...own.map(({ name }) => name.length));
    const shown = own.map(({ name, item, state }) => {
      const where = item === undefined ? "built in" : shownPath(item.path, place);
      const more = [...(item === undefined ? [] : [stateOf(item, place)]), ...(state === "" ? [] : [state])];
      return `  ${safeLine(name).padEnd(width)}  ${[where, ...more].join("; ")}`;
    });
    return own.length === 0 ? [] : [stage, ...shown];
  });
  const events = await eventHooks(items, place);
  const value = rows.map(({ stage, hooks: own }) => ({
    stage,
    hooks: own.map(({ name, item, state }) => ({ name, state, ...(item === undefined ? { built_in: true } : item) })),
  }));
  return {
    text: [...lines, ...(events.lines.length === 0 ? [] : ["", ...events.lines])].join("\n"),
    value: asValue({ stages: value, events: events.value }),
  };
}

/** By event: the command, its file and whether it is approved. */
async function eventHooks(items: readonly ListedExtension[], place: SourcesPlace) {
  const entries = items.filter(({ kind }) => kind === "event-hooks");
  if (entries.length === 0) return { lines: [], value: [] };
  const [{ listEventHooks }, { entriesOf }] = await Promise.all([
    import("../../extensions/hooks/list-event-hooks.js"),
    import("../../security/trust/entries.js"),
  ]);
  const found = await listEventHooks(entries, { root: place.root, home: homeFolder(place.variables) ?? "", entriesOf });
  const lines = found.flatMap(({ item, hooks: own, problems }) => [
    ...own.flatMap(({ event, matcher, command, timeout_ms, sandbox, only_in }) => [
      `${safeLine(event)} ${safeLine(matcher)}: ${safeLine(command)}`,
      `  ${shownPath(item.path, place)}; ${stateOf(item, place)}; ${timeout_ms / 1000} s; ${sandbox ? "in the sandbox" : "outside the sandbox"}${only_in === undefined ? "" : `; only in the ${safeLine(only_in)}`}`,
    ]),
    ...problems.map((problem) => safeLine(problem)),
  ]);
  return { lines, value: found.map(({ item, ...rest }) => ({ ...item, ...rest })) };
}

/** The programs of one kind, for the lists of tools and commands. */
export async function programsOf(kind: "tool" | "command", place: SourcesPlace) {
  const { items } = await listExtensions(place);
  const own = items.flatMap((item) => {
    const name = item.kind === kind && item.executable ? programName(item) : undefined;
    return name === undefined ? [] : [{ name: safeLine(name), item }];
  });
  const width = Math.max(0, ...own.map(({ name }) => name.length));
  return own.map(({ name, item }) => ({
    line: `${name.padEnd(width)}  ${shownPath(item.path, place)}  ${stateOf(item, place)}`,
    value: { name, program: item.path, scope: item.scope, state: item.state, needs_flag: item.needsFlag },
  }));
}

interface HookRow {
  readonly name: string;
  readonly item?: ListedExtension;
  readonly state: string;
}

function hooksOf(stage: HookStage, files: readonly ListedExtension[]): readonly HookRow[] {
  const builtIn =
    stage === "sources" || stage === "resolve"
      ? []
      : STAGES[stage].flatMap((hook) => ("of" in hook ? [] : [hook.name]));
  const own = files.flatMap((item) => {
    const place = hookPlace(item.name);
    return place === undefined || "problem" in place || place.stage !== stage ? [] : [{ name: place.name, item }];
  });
  const replaced = (name: string) =>
    own.some((hook) => hook.name === name && hook.item.state === "approved" && !isKept(stage, name));
  const rows: HookRow[] = [
    ...builtIn.map((name) => ({ name, state: replaced(name) ? "replaced" : "" })),
    ...own.map(({ name, item }) => {
      const state = !builtIn.includes(name)
        ? ""
        : isKept(stage, name)
          ? "left out: built in"
          : "replaces the built-in one";
      return { name, item, state };
    }),
  ];
  return rows.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function titleOf({ name, entry }: ListedExtension): string {
  return safeLine(entry === undefined ? name : `${name}: ${entry}`);
}

function stateOf({ state, needsFlag, shadowedBy }: ListedExtension, place: SourcesPlace): string {
  const words = { approved: "approved", waiting: "waits for your approval", refused: "refused" }[state];
  return [
    words,
    ...(needsFlag && state !== "refused" ? ["off: 'sources allow' or --allow-project-hooks runs it"] : []),
    ...(shadowedBy === undefined ? [] : [`hidden by ${shownPath(shadowedBy, place)}`]),
  ].join("; ");
}

/** Relative to the folder or to the home folder, if that is shorter. */
export function shownPath(path: string, { root, variables }: Pick<SourcesPlace, "root" | "variables">): string {
  const home = homeFolder(variables);
  if (isWithin(path, root)) return safeLine(`./${relative(root, path)}`);
  return safeLine(home !== undefined && isWithin(path, home) ? `~/${relative(home, path)}` : path);
}
