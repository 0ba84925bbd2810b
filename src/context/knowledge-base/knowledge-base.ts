/**
 * The knowledge base: what was found and decided, by project. One encrypted database for all projects of the user.
 *
 * 1. Names of projects and concepts are unique without regard to case.
 * 2. An import adds what is not there; it changes and removes nothing.
 */
import type { Database } from "../../system/sqlite/database.js";
import { migrate } from "../../system/sqlite/migrate.js";
import { openOrView } from "../../system/sqlite/open-or-view.js";
import { followWordRule } from "../word-rule.js";
import { type Concept, ConceptTable } from "./concept-table.js";
import { type Dump, type ObservationKind, oneLine, type ProjectStatus } from "./dump.js";
import { ObservationTable } from "./observation-table.js";
import type { NewObservation, Observation, Project } from "./records.js";
import { MIGRATIONS } from "./schema.js";

const PROJECT = {
  id: "integer",
  name: "text",
  description: "text",
  status: "text",
  created_at: "text",
  concepts: ["text", "coalesce(concepts, '')"],
} as const;

export class KnowledgeBase {
  readonly #database: Database;
  readonly #observations: ObservationTable;
  readonly #concepts: ConceptTable;
  readonly #wall: () => number;

  private constructor(database: Database, wall: () => number) {
    this.#database = database;
    this.#observations = new ObservationTable(database);
    this.#concepts = new ConceptTable(database);
    this.#wall = wall;
  }

  static async open(options: {
    readonly path: string;
    readonly key: Uint8Array;
    readonly wall: () => number;
    /** If nothing can be written, reading still works. */
    readonly isForReading?: boolean;
  }): Promise<KnowledgeBase> {
    const { path, key, wall } = options;
    return openOrView(options.isForReading, async (open) => {
      const database = await open({ path, key, noun: "knowledge base" });
      try {
        migrate(database, { wall, migrations: MIGRATIONS });
        const opened = new KnowledgeBase(database, wall);
        followWordRule(database, () => opened.#observations.reindex());
        return opened;
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  close(): void {
    this.#database.close();
  }

  projects(): readonly Project[] {
    const rows = this.#database.select(PROJECT, "FROM project_summary ORDER BY id");
    return rows.map((row) => ({ ...row, status: row.status as ProjectStatus }));
  }

  /** By its name or number. */
  project(word: string): Project | undefined {
    return this.#named(word) ?? this.projects().find(({ id }) => String(id) === word.replace(/^#/, ""));
  }

  #named(name: string): Project | undefined {
    return this.projects().find((project) => same(project.name, name));
  }

  addProject(name: string, description = ""): Project {
    return this.#write(() => this.#addProject({ name, description, status: "active" }));
  }

  setStatus(project: number, status: ProjectStatus): void {
    this.#database.run("UPDATE projects SET status = ? WHERE id = ?", [status, project]);
  }

  /** The project of this folder from now on. */
  use(folder: string, project: number): void {
    this.#database.run("INSERT OR REPLACE INTO folders (path, project) VALUES (?, ?)", [folder, project]);
  }

  /** The one of this folder, or of the nearest folder above. */
  current(folder: string): Project | undefined {
    const rows = this.#database.select({ path: "text", project: "integer" }, "FROM folders ORDER BY length(path) DESC");
    const found = rows.find(({ path }) => folder === path || folder.startsWith(path.endsWith("/") ? path : `${path}/`));
    return found && this.projects().find(({ id }) => id === found.project);
  }

  observe(entry: NewObservation): number {
    return this.#write(() => this.#observations.add({ ...entry, created_at: this.#now() }));
  }

  observation(id: number): Observation | undefined {
    return this.#observations.get(id);
  }

  forget(id: number): boolean {
    return this.#observations.remove(id);
  }

  /** The newest first. */
  recent(project: number, most: number): readonly Observation[] {
    return this.#observations.recent(project, most);
  }

  /** Counts how many of each kind. */
  counts(project: number): Readonly<Partial<Record<ObservationKind, number>>> {
    return this.#observations.counts(project);
  }

  /** The best first. */
  search(question: string, options: { readonly most: number; readonly project?: number }): readonly Observation[] {
    return this.#observations.search(question, options);
  }

  concepts(): readonly (Concept & { readonly uses: number })[] {
    return this.#concepts.list();
  }

  /** A description replaces an empty one. */
  addConcept(name: string, description = ""): void {
    this.#write(() => this.#concepts.put(name, description));
  }

  linkProject(project: number, concept: string): void {
    this.#write(() => this.#concepts.link("project", project, concept));
  }

  linkConcept(observation: number, concept: string): void {
    this.#write(() => this.#concepts.link("observation", observation, concept));
  }

  linkObservations(origin: number, target: number, relation: string): void {
    this.#database.run("INSERT OR IGNORE INTO observation_links (origin, target, relation) VALUES (?, ?, ?)", [
      origin,
      target,
      oneLine(relation) || "related",
    ]);
  }

  /** Both ways. */
  linksOf(observation: number): readonly { readonly from: number; readonly to: number; readonly relation: string }[] {
    return this.#database.select(
      { from: ["integer", "origin"], to: ["integer", "target"], relation: "text" },
      "FROM observation_links WHERE origin = ? OR target = ? ORDER BY origin, target, relation",
      [observation, observation],
    );
  }

  /** Everything. */
  dump(): Dump {
    return this.#database.snapshot(() => ({
      projects: this.projects().map(({ id, name, description, status, created_at }) => ({
        name,
        description,
        status,
        created_at,
        concepts: this.#concepts.namesOf("project", id),
      })),
      concepts: this.#concepts.all(),
      observations: this.#observations.all().map(({ session, event, ...entry }) => ({
        ...entry,
        ...(session !== undefined && { session }),
        ...(event !== undefined && { event }),
        concepts: this.#concepts.namesOf("observation", entry.id),
      })),
      links: this.#database.select(
        { from: ["integer", "origin"], to: ["integer", "target"], relation: "text" },
        "FROM observation_links ORDER BY origin, target, relation",
      ),
    }));
  }

  /** Counts how many of each were new. All or nothing. */
  import(dump: Dump): { readonly projects: number; readonly observations: number } {
    return this.#write(() => {
      let projects = 0;
      for (const { concepts, ...entry } of dump.projects) {
        const known = this.#named(entry.name);
        if (known === undefined) projects++;
        const { id } = known ?? this.#addProject(entry);
        for (const concept of concepts) this.#concepts.link("project", id, concept);
      }
      for (const { name, description } of dump.concepts) this.#concepts.put(name, description);
      return { projects, observations: this.#importObservations(dump) };
    });
  }

  #importObservations(dump: Dump): number {
    let added = 0;
    const ids = new Map<number, number>();
    for (const { id, project, concepts, session, event, ...entry } of dump.observations) {
      const owner = this.#named(project) ?? this.#addProject({ name: project, description: "", status: "active" });
      const known = this.#observations.same(owner.id, entry);
      if (known === undefined) added++;
      const origin = session === undefined ? undefined : { session, event: event ?? 0 };
      const own = known ?? this.#observations.add({ ...entry, project: owner.id, origin, event });
      ids.set(id, own);
      for (const concept of concepts) this.#concepts.link("observation", own, concept);
    }
    for (const { from, to, relation } of dump.links) {
      const [origin, target] = [ids.get(from), ids.get(to)];
      if (origin !== undefined && target !== undefined) this.linkObservations(origin, target, relation);
    }
    return added;
  }

  #addProject(entry: {
    readonly name: string;
    readonly description: string;
    readonly status: ProjectStatus;
    readonly created_at?: string;
  }): Project {
    const { name, description, status, created_at = this.#now() } = entry;
    this.#database.run("INSERT INTO projects (name, description, status, created_at) VALUES (?, ?, ?, ?)", [
      oneLine(name),
      oneLine(description, 2000),
      status,
      created_at,
    ]);
    return this.#named(name) as Project;
  }

  #write<T>(work: () => T): T {
    return this.#database.transaction("FULL", work);
  }

  #now(): string {
    return new Date(this.#wall()).toISOString();
  }
}

function same(one: string, other: string): boolean {
  return one.toLowerCase() === oneLine(other).toLowerCase();
}
