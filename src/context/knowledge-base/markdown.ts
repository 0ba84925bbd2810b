/**
 * A dump as Markdown that people read and edit. Headings are projects, observations and concepts; `- name: value` lines are their fields;
 * a quotation (`> `) is the text. What it writes it reads back as it was.
 */
import {
  checkedTime,
  cleaned,
  type Dump,
  isKind,
  isStatus,
  type ObservationEntry,
  oneLine,
  type ProjectEntry,
} from "./dump.js";

export function toMarkdown(dump: Dump): string {
  const parts = [
    "# Knowledge base",
    ...dump.projects.flatMap((project) => [
      projectPart(project),
      ...dump.observations.filter((each) => each.project === project.name).map((each) => observationPart(each, dump)),
    ]),
    ...(dump.concepts.length === 0 ? [] : ["## Concepts"]),
    ...dump.concepts.map(({ name, description }) => joined(`### ${name}`, [], description)),
  ];
  return `${parts.join("\n\n")}\n`;
}

function projectPart({ name, description, status, created_at, concepts }: ProjectEntry): string {
  const fields = [`status: ${status}`, `created: ${created_at}`, ...concepts.map((each) => `concept: ${each}`)];
  return joined(`## Project ${name}`, fields, description);
}

function observationPart(entry: ObservationEntry, { links }: Dump): string {
  const { id, kind, text, created_at, session, event, concepts } = entry;
  const fields = [
    `time: ${created_at}`,
    ...(session === undefined ? [] : [`session: ${session}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...concepts.map((each) => `concept: ${each}`),
    ...links.filter(({ from }) => from === id).map(({ to, relation }) => `link: #${to} ${relation}`),
  ];
  return joined(`### #${id} ${kind}`, fields, text);
}

function joined(heading: string, fields: readonly string[], text: string): string {
  const quoted = text === "" ? [] : ["", ...text.split("\n").map((line) => (line === "" ? ">" : `> ${line}`))];
  return [heading, ...(fields.length === 0 ? [] : ["", ...fields.map((field) => `- ${field}`)]), ...quoted].join("\n");
}

interface Part {
  readonly heading: string;
  readonly line: number;
  readonly fields: (readonly [string, string])[];
  readonly text: string[];
}

/** Throws an Error that names the line. */
export function fromMarkdown(source: string): Dump {
  const dump = { projects: [], concepts: [], observations: [], links: [] } as { [K in keyof Dump]: Dump[K][number][] };
  let section: { readonly project: string } | "concepts" | undefined;
  for (const part of partsOf(source)) {
    const where = `line ${part.line}`;
    const project = /^## Project (.+)$/.exec(part.heading)?.[1];
    if (project !== undefined) {
      section = { project: oneLine(project) };
      dump.projects.push(readProject(section.project, part, where));
    } else if (/^## Concepts\s*$/.test(part.heading)) section = "concepts";
    else if (section === "concepts" && part.heading.startsWith("### ")) {
      dump.concepts.push({ name: oneLine(part.heading.slice(4)), description: oneLine(textOf(part), 2000) });
    } else if (typeof section === "object" && part.heading.startsWith("### ")) {
      const read = readObservation(part, section.project, where);
      dump.observations.push(read);
      dump.links.push(...linksOf(read.id, part, where));
    }
  }
  // Observations stand with their projects; their numbers are the order in which they were made.
  dump.observations.sort((one, other) => one.id - other.id);
  dump.links.sort((one, other) => one.from - other.from);
  return dump;
}

function* partsOf(source: string): Generator<Part> {
  let part: Part | undefined;
  for (const [i, raw] of source.split("\n").entries()) {
    const line = raw.replace(/\r$/, "");
    if (/^#{1,3} /.test(line)) {
      if (part !== undefined) yield part;
      part = { heading: line, line: i + 1, fields: [], text: [] };
    }
    if (part === undefined) continue;
    const [, name, value] = /^- ([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) part.fields.push([name, value ?? ""]);
    else if (line.startsWith(">")) part.text.push(line.replace(/^> ?/, ""));
  }
  if (part !== undefined) yield part;
}

function textOf({ text }: Part): string {
  return cleaned(text.join("\n"));
}

function field({ fields }: Part, name: string): string | undefined {
  return fields.find(([each]) => each === name)?.[1];
}

function concepts({ fields }: Part): readonly string[] {
  return fields.filter(([name, value]) => name === "concept" && value.trim() !== "").map(([, value]) => oneLine(value));
}

function readProject(name: string, part: Part, where: string): ProjectEntry {
  const status = field(part, "status") ?? "active";
  if (!isStatus(status)) throw new Error(`${where}: there is no status ${JSON.stringify(status)}`);
  const created_at = checkedTime(field(part, "created"), where);
  return { name, description: oneLine(textOf(part), 2000), status, created_at, concepts: concepts(part) };
}

function readObservation(part: Part, project: string, where: string): ObservationEntry {
  const [, id, kind] = /^### #(\d{1,15}) (\w+)\s*$/.exec(part.heading) ?? [];
  if (id === undefined || !isKind(kind)) throw new Error(`${where}: expected '### #NUMBER KIND', got ${part.heading}`);
  const text = textOf(part);
  if (text === "") throw new Error(`${where}: the observation has no text ('> …')`);
  const [session, event] = [field(part, "session"), field(part, "event")];
  return {
    id: Number(id),
    project,
    kind,
    text,
    created_at: checkedTime(field(part, "time"), where),
    ...(session !== undefined && { session: oneLine(session) }),
    ...(event !== undefined && Number.isSafeInteger(Number(event)) && { event: Number(event) }),
    concepts: concepts(part),
  };
}

function linksOf(from: number, { fields }: Part, where: string): readonly Dump["links"][number][] {
  return fields
    .filter(([name]) => name === "link")
    .map(([, value]) => {
      const [, to, relation] = /^#(\d{1,15}) ?(.*)$/.exec(value) ?? [];
      if (to === undefined) throw new Error(`${where}: expected 'link: #NUMBER RELATION', got ${value}`);
      return { from, to: Number(to), relation: oneLine(relation ?? "") || "related" };
    });
}
