/** A dump as JSON lines: one object for each project, concept, observation and link. Unknown fields are ignored. */
import { checkedTime, cleaned, type Dump, isKind, isStatus, oneLine } from "./dump.js";

export function toJsonLines({ projects, concepts, observations, links }: Dump): string {
  const lines = [
    ...projects.map((entry) => ({ type: "project", ...entry })),
    ...concepts.map((entry) => ({ type: "concept", ...entry })),
    ...observations.map((entry) => ({ type: "observation", ...entry })),
    ...links.map((entry) => ({ type: "link", ...entry })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

type Fields = Readonly<Record<string, unknown>>;

/** Throws an Error that names the line. */
export function fromJsonLines(text: string): Dump {
  const dump = { projects: [], concepts: [], observations: [], links: [] } as { [K in keyof Dump]: Dump[K][number][] };
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const where = `line ${i + 1}`;
    const value = parsed(line, where);
    if (value.type === "project") dump.projects.push(readProject(value, where));
    else if (value.type === "concept") {
      dump.concepts.push({ name: name(value.name, where), description: oneLine(textOf(value.description), 2000) });
    } else if (value.type === "observation") dump.observations.push(readObservation(value, where));
    else if (value.type === "link") {
      const { from, to, relation } = value;
      dump.links.push({
        from: number(from, where),
        to: number(to, where),
        relation: oneLine(textOf(relation)) || "related",
      });
    } else throw new Error(`${where}: there is no type ${JSON.stringify(value.type)}`);
  }
  return dump;
}

function readProject(value: Fields, where: string): Dump["projects"][number] {
  const status = textOf(value.status) || "active";
  if (!isStatus(status)) throw new Error(`${where}: there is no status ${JSON.stringify(status)}`);
  return {
    name: name(value.name, where),
    description: oneLine(textOf(value.description), 2000),
    status,
    created_at: checkedTime(textOf(value.created_at), where),
    concepts: names(value.concepts, where),
  };
}

function readObservation(value: Fields, where: string): Dump["observations"][number] {
  const kind = textOf(value.kind) || "note";
  if (!isKind(kind)) throw new Error(`${where}: there is no kind ${JSON.stringify(kind)}`);
  const text = cleaned(textOf(value.text));
  if (text === "") throw new Error(`${where}: the observation has no text`);
  return {
    id: number(value.id, where),
    project: name(value.project, where),
    kind,
    text,
    created_at: checkedTime(textOf(value.created_at), where),
    ...(typeof value.session === "string" && { session: oneLine(value.session) }),
    ...(Number.isSafeInteger(value.event) && { event: value.event as number }),
    concepts: names(value.concepts, where),
  };
}

function parsed(line: string, where: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {
    // Reported below.
  }
  throw new Error(`${where}: expected a JSON object`);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function name(value: unknown, where: string): string {
  const found = oneLine(textOf(value));
  if (found === "") throw new Error(`${where}: a name is missing`);
  return found;
}

function names(value: unknown, where: string): readonly string[] {
  return Array.isArray(value) ? value.map((each) => name(each, where)) : [];
}

function number(value: unknown, where: string): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw new Error(`${where}: a number is missing`);
}
