/** `/kb` and `oxbow kb`. What needs a session is in session-knowledge-base.ts. */
import { basename } from "node:path";
import { renderTable } from "../../base/text-table.js";
import * as specs from "../../commands/catalogue/knowledge-base.js";
import {
  asValue,
  type Command,
  type CommandAnswer,
  type CommandArguments,
  type CommandContext,
  type CommandResult,
  type CommandSpec,
  refuse,
  spell,
} from "../../commands/command.js";
import { isKind, isStatus, type ObservationKind, oneLine } from "../../context/knowledge-base/dump.js";
import type { KnowledgeBase } from "../../context/knowledge-base/knowledge-base.js";
import type { Observation, Origin, Project } from "../../context/knowledge-base/records.js";
import { redact } from "../../security/redact/redact.js";
import { addConcept, link, listConcepts, numberOf } from "./knowledge-base-concepts.js";
import { exportAll, importFile } from "./knowledge-base-files.js";

export interface KnowledgePort {
  readonly base: KnowledgeBase;
  /** The folder that is worked in. */
  readonly root: string;
  /** Why a file may not be used. In a session the rules and the boundary of its tools apply; in a shell the user names any file. */
  readonly refusalOf?: (access: "read" | "write", path: string) => Promise<string | undefined>;
  /** The session and its newest event, in a session. */
  readonly origin?: () => Origin;
}

export type KnowledgeAction = (
  port: KnowledgePort,
  args: CommandArguments,
  context: CommandContext,
) => CommandResult | Promise<CommandResult>;

const ACTIONS: readonly (readonly [CommandSpec, KnowledgeAction])[] = [
  [specs.KB_STATUS, status],
  [specs.KB_PROJECT_LIST, listProjects],
  [specs.KB_PROJECT_ADD, addProject],
  [specs.KB_PROJECT_USE, useProject],
  [specs.KB_PROJECT_SET, setStatus],
  [specs.KB_OBSERVE, observe],
  [specs.KB_CONCEPT_LIST, listConcepts],
  [specs.KB_CONCEPT_ADD, addConcept],
  [specs.KB_LINK, link],
  [specs.KB_SEARCH, search],
  [specs.KB_SHOW, show],
  [specs.KB_FORGET, forget],
  [specs.KB_EXPORT, exportAll],
  [specs.KB_IMPORT, importFile],
];

export function knowledgeCommands(open: () => Promise<KnowledgePort>): readonly Command[] {
  return ACTIONS.map(([spec, action]) => ({
    ...spec,
    run: async (args, context) => action(await open(), args, context),
  }));
}

const RECENT = 3;

function status({ base, root }: KnowledgePort, _args: CommandArguments, context: CommandContext): CommandAnswer {
  const current = base.current(root);
  const projects = base.projects();
  const concepts = base.concepts();
  if (projects.length === 0) {
    return {
      text: `The knowledge base is empty. Begin with ${spell("kb:observe", context)} TEXT`,
      value: { projects: [], concepts: [] },
    };
  }
  const lines = projects.flatMap((project) => {
    const recent = base.recent(project.id, RECENT);
    return [
      `${project.id}. ${project.name} (${project.status}${project.id === current?.id ? ", used here" : ""}): ${countsText(base, project)}`,
      ...(project.description === "" ? [] : [`   ${project.description}`]),
      ...(project.concepts === "" ? [] : [`   concepts: ${project.concepts}`]),
      ...recent.map((each) => `   ${lineOf(each)}`),
    ];
  });
  const names = concepts.map(({ name }) => name).join(", ");
  const value = projects.map((project) => ({
    ...project,
    counts: base.counts(project.id),
    recent: base.recent(project.id, RECENT),
  }));
  return {
    text: [...lines, `Concepts: ${names === "" ? "none" : names}`].join("\n"),
    value: asValue({ current: current?.name ?? null, projects: value, concepts }),
  };
}

function countsText(base: KnowledgeBase, { id }: Project): string {
  const counts = Object.entries(base.counts(id)).map(
    ([kind, count]) =>
      `${count} ${kind === "hypothesis" && count !== 1 ? "hypotheses" : `${kind}${count === 1 ? "" : "s"}`}`,
  );
  return counts.length === 0 ? "no observations" : counts.join(", ");
}

const LINE_LENGTH = 100;

export function lineOf({ id, kind, text }: Observation): string {
  const line = oneLine(text, 1000);
  return `#${id} ${kind}: ${line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line}`;
}

function listProjects({ base, root }: KnowledgePort, _args: CommandArguments, context: CommandContext): CommandAnswer {
  const { screen } = context;
  const projects = base.projects();
  const current = base.current(root);
  const columns = [
    { header: "", value: ({ id }: Project) => String(id) },
    { header: "project", value: ({ name }: Project) => name, priority: 2 },
    { header: "status", value: ({ status: state }: Project) => state },
    { header: "", value: ({ id }: Project) => (id === current?.id ? "used here" : "") },
    { header: "description", value: ({ description }: Project) => description, maxWidth: 80 },
  ];
  const table = () => renderTable(columns, projects, { width: screen?.width, color: screen?.color ?? false });
  return {
    text:
      projects.length === 0
        ? `No projects yet. ${spell("kb:project:add", context)} NAME makes one; ${spell("kb:observe", context)} TEXT also does.`
        : table(),
    value: asValue({ projects, current: current?.name ?? null }),
  };
}

function addProject({ base, root }: KnowledgePort, args: CommandArguments): CommandResult {
  const name = oneLine(args.text("NAME") ?? "");
  if (name === "") return refuse("Give the project a name.");
  const known = base.project(name);
  if (known !== undefined) return refuse(`There is a project ${known.name} already (${known.id}).`);
  const project = base.addProject(name, redact(args.text("DESCRIPTION") ?? ""));
  base.use(root, project.id);
  return { text: `Created the project ${name} (number ${project.id}). This folder uses it.`, value: asValue(project) };
}

function useProject({ base, root }: KnowledgePort, args: CommandArguments, context: CommandContext): CommandResult {
  const found = findProject(base, args.text("PROJECT") ?? "", context);
  if ("failure" in found) return found;
  base.use(root, found.id);
  return { text: `${root} uses the project ${found.name}.`, value: asValue(found) };
}

function findProject(base: KnowledgeBase, word: string, context: CommandContext) {
  return base.project(word) ?? refuse(`There is no project ${word}. ${spell("kb:project:list", context)} lists them.`);
}

function setStatus({ base }: KnowledgePort, args: CommandArguments, context: CommandContext): CommandResult {
  const found = findProject(base, args.text("PROJECT") ?? "", context);
  if ("failure" in found) return found;
  const state = args.text("STATUS");
  if (!isStatus(state)) return refuse("The status is active, paused or concluded.");
  base.setStatus(found.id, state);
  return { text: `${found.name} is ${state}.`, value: asValue({ ...found, status: state }) };
}

/** The project of the folder; the first observation makes one with the folder's name. */
export function projectHere({ base, root }: KnowledgePort): { readonly project: Project; readonly isNew: boolean } {
  const current = base.current(root);
  if (current !== undefined) return { project: current, isNew: false };
  const name = oneLine(basename(root)) || "default";
  const known = base.project(name);
  const project = known ?? base.addProject(name);
  base.use(root, project.id);
  return { project, isNew: known === undefined };
}

function observe(port: KnowledgePort, args: CommandArguments): CommandResult {
  const line = (args.text("TEXT") ?? "").trim();
  const [, first, rest] = /^(\S+)\s+([\s\S]+)$/.exec(line) ?? [];
  const word = first?.toLowerCase();
  if (isKind(line.toLowerCase())) return refuse(`Give the text of the ${line.toLowerCase()}.`);
  const { kind, text } = isKind(word) ? { kind: word, text: rest ?? "" } : { kind: "note" as const, text: line };
  if (unquoted(text) === "") return refuse("Give the text of the observation.");
  return record(port, [{ kind, text: unquoted(text) }]);
}

/** One pair of quotation marks around all of it is not part of it. */
function unquoted(text: string): string {
  return /^(["'])([\s\S]*)\1$/.exec(text.trim())?.[2] ?? text.trim();
}

export function record(
  port: KnowledgePort,
  entries: readonly { readonly kind: ObservationKind; readonly text: string; readonly origin?: Origin }[],
): CommandAnswer {
  const { project, isNew } = projectHere(port);
  const ids = entries.map(({ kind, text, origin = port.origin?.() }) =>
    port.base.observe({ project: project.id, kind, text: redact(text), origin }),
  );
  const made = isNew ? ` (a new project, named after this folder)` : "";
  const recorded = entries.map(({ kind }, i) => `${kind} #${ids[i]}`).join(", ");
  return { text: `Recorded ${recorded} in ${project.name}${made}.`, value: { project: project.name, ids } };
}

const MOST_FOUND = 20;

export function found(
  { base, root }: KnowledgePort,
  text: string,
  { all }: { readonly all: boolean },
): readonly Observation[] {
  const current = all ? undefined : base.current(root);
  return base.search(text, { most: MOST_FOUND, ...(current !== undefined && { project: current.id }) });
}

/** As the model gets it. */
export function fullText({ id, kind, text, project, created_at, concepts }: Observation): string {
  const about = concepts === "" ? "" : `, concepts: ${concepts}`;
  return `#${id} ${kind} (${project}, ${created_at.slice(0, 10)}${about})\n${text}`;
}

function search(port: KnowledgePort, args: CommandArguments): CommandAnswer {
  const observations = found(port, args.text("TEXT") ?? "", { all: args.hasFlag("all") });
  const lines = observations.map((each) => `${lineOf(each)}  [${each.project}]`);
  return {
    text: lines.length === 0 ? "No observation matches. --all searches all projects." : lines.join("\n"),
    value: asValue({ observations }),
  };
}

function show({ base }: KnowledgePort, args: CommandArguments, context: CommandContext): CommandResult {
  const observation = base.observation(numberOf(args.text("NUMBER") ?? "") ?? 0);
  if (observation === undefined) return unknownObservation(args, context);
  const { id, kind, text, project, created_at, session, event, concepts } = observation;
  const links = base.linksOf(id);
  const lines = [
    `#${id} ${kind} in ${project}, ${created_at.slice(0, 16).replace("T", " ")}`,
    ...(concepts === "" ? [] : [`concepts: ${concepts}`]),
    ...links.map(({ from, to, relation }) => `#${from} → #${to}: ${relation}`),
    ...(session === undefined ? [] : [`from: event ${event} of ${session} (oxbow session show ${session})`]),
    "",
    text,
  ];
  return {
    text: lines.join("\n"),
    value: asValue({ ...observation, session: session ?? null, event: event ?? null, links }),
  };
}

function forget({ base }: KnowledgePort, args: CommandArguments, context: CommandContext): CommandResult {
  const id = numberOf(args.text("NUMBER") ?? "") ?? 0;
  if (!base.forget(id)) return unknownObservation(args, context);
  return { text: `Deleted #${id}.`, value: { id } };
}

function unknownObservation(args: CommandArguments, context: CommandContext): CommandResult {
  return refuse(`There is no observation ${args.text("NUMBER")}. ${spell("kb:search", context)} finds observations.`);
}
