/** `/kb` and `oxbow kb`. */
import { basename, resolve } from "node:path";
import { counted } from "../../base/group-digits.js";
import { renderTable } from "../../base/text-table.js";
import {
  type Argument,
  asValue,
  type Command,
  type CommandAnswer,
  type CommandArguments,
  type CommandContext,
  type CommandOf,
  type CommandResult,
  EVERYWHERE,
  FOLDER,
  IN_SESSION,
  refuse,
  type Subject,
  spell,
  withPort,
} from "../../feature/command.js";
import type { Flag } from "../../feature/flags.js";
import { writeFileAtomic } from "../../system/atomic-file.js";
import { readRegularFile } from "../../system/regular-file.js";
import { isKind, isStatus, type ObservationKind, oneLine } from "./dump.js";
import { fromJsonLines, toJsonLines } from "./json-lines.js";
import { KnowledgeBase } from "./knowledge-base.js";
import { fromMarkdown, toMarkdown } from "./markdown.js";
import type { Observation, Origin, Project } from "./records.js";
import type { SessionKnowledge } from "./session-knowledge.js";
import { KEY_PURPOSE, knowledgePath } from "./settings.js";

export interface KnowledgePort {
  readonly base: KnowledgeBase;
  /** The folder that is worked in. */
  readonly root: string;
  readonly redact: (text: string) => string;
  /** Tells why a file may not be used. In a session the rules and the boundary of its tools apply; in a shell the user names any file. */
  readonly refusalOf?: (access: "read" | "write", path: string) => Promise<string | undefined>;
  /** The session and its newest event, in a session. */
  readonly origin?: () => Origin;
}

const ALL: Flag = { name: "all", help: "in all projects" };

const shared = { places: EVERYWHERE, shellFlags: [FOLDER] } as const;
const KINDS = ["note", "finding", "decision", "question", "hypothesis"] as const;
const NAME: Argument = { name: "NAME", kind: "text" };
const DESCRIPTION: Argument = { name: "DESCRIPTION", kind: "text", optional: true, rest: "text" };

const COMMANDS: readonly CommandOf<KnowledgePort>[] = [
  {
    name: "kb:status",
    aliases: ["kb"],
    summary: "show the projects, their observations and concepts",
    ...shared,
    run: status,
  },
  {
    name: "kb:project:list",
    aliases: ["kb:project"],
    summary: "list the projects",
    ...shared,
    run: listProjects,
  },
  {
    name: "kb:project:add",
    summary: "make a project, and use it in this folder",
    arguments: [NAME, DESCRIPTION],
    ...shared,
    run: addProject,
  },
  {
    name: "kb:project:use",
    summary: "use a project in this folder",
    arguments: [{ name: "PROJECT", kind: "text", rest: "text" }],
    ...shared,
    run: useProject,
  },
  {
    name: "kb:project:set",
    summary: "set the status of a project: active, paused or concluded",
    arguments: [
      { name: "PROJECT", kind: "text" },
      { name: "STATUS", kind: "choice", complete: ["active", "paused", "concluded"] },
    ],
    ...shared,
    run: setStatus,
  },
  {
    name: "kb:observe",
    summary: "record a note, or a finding, decision, question or hypothesis if the first word says so",
    usage: `/kb observe [${KINDS.join("|")}] TEXT`,
    shellUsage: `oxbow kb observe [${KINDS.join("|")}] TEXT [flags]`,
    arguments: [{ name: "TEXT", kind: "line", rest: "text", complete: KINDS }],
    ...shared,
    run: observe,
  },
  {
    name: "kb:concept:list",
    aliases: ["kb:concept"],
    summary: "list the concepts and how often they are used",
    ...shared,
    run: listConcepts,
  },
  {
    name: "kb:concept:add",
    summary: "add a concept that all projects share, or describe one",
    arguments: [NAME, DESCRIPTION],
    ...shared,
    run: addConcept,
  },
  {
    name: "kb:link",
    summary: "link an observation (its number) or a project (its name) to a concept, or an observation to another",
    arguments: [
      { name: "FROM", kind: "text" },
      { name: "TO", kind: "text" },
      { name: "RELATION", kind: "text", optional: true, rest: "text" },
    ],
    ...shared,
    run: link,
  },
  {
    name: "kb:search",
    summary: "find observations by their words",
    arguments: [{ name: "TEXT", kind: "text", rest: "text" }],
    flags: [ALL],
    ...shared,
    run: search,
  },
  {
    name: "kb:show",
    summary: "show an observation, its links and the session that it came from",
    arguments: [{ name: "NUMBER", kind: "text" }],
    ...shared,
    run: show,
  },
  {
    name: "kb:forget",
    summary: "delete an observation",
    arguments: [{ name: "NUMBER", kind: "text" }],
    ...shared,
    run: forget,
  },
  {
    name: "kb:export",
    summary: "write everything to FILE, as Markdown or as JSON lines (.jsonl)",
    arguments: [{ name: "FILE", kind: "path", optional: true, complete: "file" }],
    flags: [
      { name: "format", value: "FORMAT", choices: ["markdown", "jsonl"], help: "default: by the file's name" },
      { name: "force", help: "replace the file" },
    ],
    ...shared,
    run: exportAll,
  },
  {
    name: "kb:import",
    summary: "import an exported file; what is already there stays",
    arguments: [{ name: "FILE", kind: "path", complete: "file" }],
    ...shared,
    run: importFile,
  },
];

const OF_A_SESSION: readonly CommandOf<SessionKnowledge>[] = [
  {
    name: "kb:inject",
    summary: "give the model observations with your next input: those that fit TEXT, or the newest of the project",
    arguments: [{ name: "TEXT", kind: "text", optional: true, rest: "text" }],
    flags: [ALL],
    places: IN_SESSION,
    run: inject,
  },
  {
    name: "kb:accept",
    summary: "record what Oxbow offered after the last answer: all of it, or the parts with these numbers",
    arguments: [{ name: "NUMBER", kind: "text", optional: true, rest: "list" }],
    places: IN_SESSION,
    run: accept,
  },
];

export const subject: Subject = {
  name: "kb",
  summary: "what you found and decided, by project",
  heading: "Memory and knowledge",
  specs: [...COMMANDS, ...OF_A_SESSION],
  shell: {
    about: "Keeps what you found and decided, by project, in an encrypted database on this machine.",
    more: "In a session: /kb inject gives the model observations, and Oxbow offers what an answer states (/kb accept).",
    open: async (place) => {
      const [root, key, redact] = await Promise.all([place.root(), place.key(KEY_PURPOSE), place.redact()]);
      // On a full or read-only disk it can still read.
      const base = await KnowledgeBase.open({
        ...{ path: knowledgePath(place.roots), key, wall: place.clock.wall, isForReading: true },
      });
      return { commands: withPort(COMMANDS, () => ({ base, root, redact })), close: () => base.close() };
    },
  },
};

export function sessionCommands(live: SessionKnowledge): readonly Command[] {
  return [...withPort(COMMANDS, () => live.port()), ...withPort(OF_A_SESSION, () => live)];
}

const RECENT = 3;

function status(_args: CommandArguments, { base, root }: KnowledgePort, context: CommandContext): CommandAnswer {
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

function lineOf({ id, kind, text }: Observation): string {
  const line = oneLine(text, 1000);
  return `#${id} ${kind}: ${line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line}`;
}

function listProjects(_args: CommandArguments, { base, root }: KnowledgePort, context: CommandContext): CommandAnswer {
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

function addProject(args: CommandArguments, { base, root, redact }: KnowledgePort): CommandResult {
  const name = oneLine(args.text("NAME") ?? "");
  if (name === "") return refuse("Give the project a name.");
  const known = base.project(name);
  if (known !== undefined) return refuse(`There is a project ${known.name} already (${known.id}).`);
  const project = base.addProject(name, redact(args.text("DESCRIPTION") ?? ""));
  base.use(root, project.id);
  return { text: `Created the project ${name} (number ${project.id}). This folder uses it.`, value: asValue(project) };
}

function useProject(args: CommandArguments, { base, root }: KnowledgePort, context: CommandContext): CommandResult {
  const found = findProject(base, args.text("PROJECT") ?? "", context);
  if ("failure" in found) return found;
  base.use(root, found.id);
  return { text: `${root} uses the project ${found.name}.`, value: asValue(found) };
}

function findProject(base: KnowledgeBase, word: string, context: CommandContext) {
  return base.project(word) ?? refuse(`There is no project ${word}. ${spell("kb:project:list", context)} lists them.`);
}

function setStatus(args: CommandArguments, { base }: KnowledgePort, context: CommandContext): CommandResult {
  const found = findProject(base, args.text("PROJECT") ?? "", context);
  if ("failure" in found) return found;
  const state = args.text("STATUS");
  if (!isStatus(state)) return refuse("The status is active, paused or concluded.");
  base.setStatus(found.id, state);
  return { text: `${found.name} is ${state}.`, value: asValue({ ...found, status: state }) };
}

/** The project of the folder; the first observation makes one with the folder's name. */
function projectHere({ base, root }: KnowledgePort): { readonly project: Project; readonly isNew: boolean } {
  const current = base.current(root);
  if (current !== undefined) return { project: current, isNew: false };
  const name = oneLine(basename(root)) || "default";
  const known = base.project(name);
  const project = known ?? base.addProject(name);
  base.use(root, project.id);
  return { project, isNew: known === undefined };
}

function observe(args: CommandArguments, port: KnowledgePort): CommandResult {
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
    port.base.observe({ project: project.id, kind, text: port.redact(text), origin }),
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

function search(args: CommandArguments, port: KnowledgePort): CommandAnswer {
  const observations = found(port, args.text("TEXT") ?? "", { all: args.hasFlag("all") });
  const lines = observations.map((each) => `${lineOf(each)}  [${each.project}]`);
  return {
    text: lines.length === 0 ? "No observation matches. --all searches all projects." : lines.join("\n"),
    value: asValue({ observations }),
  };
}

function show(args: CommandArguments, { base }: KnowledgePort, context: CommandContext): CommandResult {
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

function forget(args: CommandArguments, { base }: KnowledgePort, context: CommandContext): CommandResult {
  const id = numberOf(args.text("NUMBER") ?? "") ?? 0;
  if (!base.forget(id)) return unknownObservation(args, context);
  return { text: `Deleted #${id}.`, value: { id } };
}

function unknownObservation(args: CommandArguments, context: CommandContext): CommandResult {
  return refuse(`There is no observation ${args.text("NUMBER")}. ${spell("kb:search", context)} finds observations.`);
}

function listConcepts(_args: CommandArguments, { base }: KnowledgePort): CommandAnswer {
  const concepts = base.concepts();
  const lines = concepts.map(
    ({ name, description, uses }) => `${name} (${uses})${description === "" ? "" : `: ${description}`}`,
  );
  return { text: lines.length === 0 ? "No concepts." : lines.join("\n"), value: asValue({ concepts }) };
}

function addConcept(args: CommandArguments, { base, redact }: KnowledgePort): CommandResult {
  const name = oneLine(args.text("NAME") ?? "");
  if (name === "") return refuse("Give the concept a name.");
  base.addConcept(name, redact(args.text("DESCRIPTION") ?? ""));
  return { text: `The knowledge base has the concept ${name}.`, value: { name } };
}

function numberOf(word: string): number | undefined {
  const digits = /^#?(\d{1,15})$/.exec(word)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function link(args: CommandArguments, { base }: KnowledgePort, context: CommandContext): CommandResult {
  const [from = "", to = ""] = [args.text("FROM"), args.text("TO")];
  const observation = base.observation(numberOf(from) ?? 0);
  if (observation === undefined) {
    const project = numberOf(from) === undefined ? base.project(from) : undefined;
    if (project === undefined)
      return refuse(
        `There is no observation and no project ${from}. ${spell("kb:search", context)} finds observations.`,
      );
    base.linkProject(project.id, to);
    return {
      text: `The project ${project.name} is linked to ${oneLine(to)}.`,
      value: { project: project.name, concept: to },
    };
  }
  const number = numberOf(to);
  if (number === undefined) {
    base.linkConcept(observation.id, to);
    return {
      text: `#${observation.id} is linked to ${oneLine(to)}.`,
      value: { observation: observation.id, concept: to },
    };
  }
  if (base.observation(number) === undefined || number === observation.id)
    return refuse(`There is no other observation #${number}.`);
  const relation = oneLine(args.text("RELATION") ?? "") || "related";
  base.linkObservations(observation.id, number, relation);
  return {
    text: `#${observation.id} → #${number}: ${relation}.`,
    value: { from: observation.id, to: number, relation },
  };
}

/** Without a file it is the answer. */
async function exportAll(
  args: CommandArguments,
  { base, root, refusalOf }: KnowledgePort,
  context: CommandContext,
): Promise<CommandResult> {
  const file = args.text("FILE");
  const format =
    args.flag("format") ?? (file !== undefined && /\.(jsonl|ndjson|json)$/i.test(file) ? "jsonl" : "markdown");
  if (format !== "markdown" && format !== "jsonl")
    return refuse(`--format: expected markdown or jsonl, got "${format}".`);
  const dump = base.dump();
  const text = format === "jsonl" ? toJsonLines(dump) : toMarkdown(dump);
  const counts = {
    projects: dump.projects.length,
    concepts: dump.concepts.length,
    observations: dump.observations.length,
  };
  if (file === undefined) {
    await context.write(text);
    return { text: "", value: counts };
  }
  const refusal = await refusalOf?.("write", file);
  if (refusal !== undefined) return refuse(refusal);
  const path = resolve(root, file);
  try {
    await writeFileAtomic(path, text, { mode: 0o600, when: args.hasFlag("force") ? "replace" : "create" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return refuse(`${path} exists. --force replaces it.`);
    return refuse(`Oxbow cannot write ${path}: ${(error as Error).message}`);
  }
  return {
    text: `${path} has ${counted(counts.observations, "observation")} of ${counted(counts.projects, "project")}, not encrypted.`,
    value: { ...counts, path },
  };
}

const MOST_BYTES = 256 * 1024 * 1024;

async function importFile(
  args: CommandArguments,
  { base, root, refusalOf, redact }: KnowledgePort,
): Promise<CommandResult> {
  const file = args.text("FILE") ?? "";
  const refusal = await refusalOf?.("read", file);
  if (refusal !== undefined) return refuse(refusal);
  const path = resolve(root, file);
  const bytes = await readRegularFile(path).catch(() => undefined);
  if (bytes === undefined) return refuse(`There is no file ${path}.`);
  if (bytes.length > MOST_BYTES) return refuse(`${path} is too large.`);
  const text = redact(bytes.toString("utf8").replace(/^\ufeff/, ""));
  try {
    const dump = /^\s*\{/.test(text) ? fromJsonLines(text) : fromMarkdown(text);
    const { projects, observations } = base.import(dump);
    return {
      text: `New: ${counted(projects, "project")}, ${counted(observations, "observation")}.`,
      value: { projects, observations },
    };
  } catch (error) {
    return refuse(`Oxbow cannot import ${path}: ${(error as Error).message}. Nothing was changed.`);
  }
}

const MOST_INJECTED = 20;

async function inject(args: CommandArguments, live: SessionKnowledge): Promise<CommandResult> {
  const text = args.text("TEXT");
  const port = await live.port();
  const current = port.base.current(port.root);
  const observations =
    text !== undefined
      ? found(port, text, { all: args.hasFlag("all") })
      : current === undefined
        ? []
        : [...port.base.recent(current.id, MOST_INJECTED)].reverse();
  if (observations.length === 0)
    return refuse(text === undefined ? "This folder has no observations yet." : "No observation matches.");
  await live.give(`/kb inject${text === undefined ? "" : ` ${text}`}`, observations.map(fullText).join("\n\n"));
  const lines = observations.map(lineOf);
  return { text: `${lines.join("\n")}\n\nThe model gets this with your next input.`, value: asValue({ observations }) };
}

async function accept(args: CommandArguments, live: SessionKnowledge): Promise<CommandResult> {
  const numbers = args.list("NUMBER");
  const { offers } = live;
  if (offers.length === 0) return refuse("There is nothing to accept: Oxbow has offered nothing since.");
  const wanted = numbers.length === 0 ? offers.map((_, i) => i + 1) : numbers.map(Number);
  const wrong = wanted.find((number) => offers[number - 1] === undefined);
  if (wrong !== undefined) return refuse(`There is no offer ${wrong}: give numbers from 1 to ${offers.length}.`);
  const answer = record(
    await live.port(),
    wanted.flatMap((number) => offers[number - 1] ?? []),
  );
  live.forgetOffers();
  return answer;
}
