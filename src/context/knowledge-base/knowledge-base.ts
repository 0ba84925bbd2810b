/**
 * The knowledge base: what was found and decided, by project. One encrypted database for all projects of the user.
 *
 * 1. Names of projects and concepts are unique without regard to case.
 * 2. An import adds what is not there; it changes and removes nothing.
 */
import { Database } from "../../system/sqlite/database.js";
import { migrate } from "../../system/sqlite/migrate.js";
import { indexWords, questionWords } from "../words/index-words.js";
import { cleaned, type Dump, type ObservationKind, oneLine, type ProjectStatus } from "./dump.js";
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
const OBSERVATION = {
  id: ["integer", "observations.id"],
  project: ["text", "projects.name"],
  kind: "text",
  text: ["text", "observations.content"],
  created_at: ["text", "observations.created_at"],
  session: "text?",
  event: "integer?",
  concepts: [
    "text",
    `coalesce((SELECT group_concat(name, ', ') FROM (SELECT concepts.name FROM observation_concepts
      JOIN concepts ON concepts.id = concept WHERE observation = observations.id ORDER BY concepts.name)), '')`,
  ],
} as const;
const FROM_OBSERVATIONS = "FROM observations JOIN projects ON projects.id = observations.project";

export class KnowledgeBase {
  readonly #database: Database;
  readonly #wall: () => number;

  private constructor(database: Database, wall: () => number) {
    this.#database = database;
    this.#wall = wall;
  }

  static async open(options: {
    readonly path: string;
    readonly key: Uint8Array;
    readonly wall: () => number;
  }): Promise<KnowledgeBase> {
    const { path, key, wall } = options;
    const database = await Database.open({ path, key, noun: "knowledge base" });
    try {
      migrate(database, { wall, migrations: MIGRATIONS });
      return new KnowledgeBase(database, wall);
    } catch (error) {
      database.close();
      throw error;
    }
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
    return this.#write(() => this.#observe({ ...entry, created_at: this.#now() }));
  }

  observation(id: number): Observation | undefined {
    return this.#observations("WHERE observations.id = ?", [id])[0];
  }

  forget(id: number): boolean {
    return this.#database.run("DELETE FROM observations WHERE id = ?", [id]) > 0;
  }

  /** The newest first. */
  recent(project: number, most: number): readonly Observation[] {
    return this.#observations("WHERE observations.project = ? ORDER BY observations.id DESC LIMIT ?", [project, most]);
  }

  /** How many of each kind. */
  counts(project: number): Readonly<Partial<Record<ObservationKind, number>>> {
    const rows = this.#database.select(
      { kind: "text", count: ["integer", "count(*)"] },
      "FROM observations WHERE project = ? GROUP BY kind",
      [project],
    );
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
  }

  concepts(): readonly { readonly name: string; readonly description: string; readonly uses: number }[] {
    const uses = `(SELECT count(*) FROM observation_concepts WHERE concept = concepts.id)
      + (SELECT count(*) FROM project_concepts WHERE concept = concepts.id)`;
    return this.#database.select(
      { name: "text", description: "text", uses: ["integer", uses] },
      "FROM concepts ORDER BY name COLLATE NOCASE",
    );
  }

  /** A description replaces an empty one. */
  addConcept(name: string, description = ""): void {
    this.#write(() => this.#concept(name, description));
  }

  linkProject(project: number, concept: string): void {
    this.#write(() => {
      this.#database.run("INSERT OR IGNORE INTO project_concepts (project, concept) VALUES (?, ?)", [
        project,
        this.#concept(concept),
      ]);
    });
  }

  linkConcept(observation: number, concept: string): void {
    this.#write(() => this.#linkConcept(observation, concept));
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

  /** The best first. */
  search(
    question: string,
    { most, project }: { readonly most: number; readonly project?: number },
  ): readonly Observation[] {
    const words = questionWords(question).slice(0, 32);
    if (words.length === 0) return [];
    const rows = this.#database.select(
      { id: ["integer", "observation_words.rowid"] },
      `FROM observation_words JOIN observations ON observations.id = observation_words.rowid
        WHERE observation_words MATCH ? AND (? = 0 OR observations.project = ?) ORDER BY rank LIMIT ?`,
      [words.map((word) => `"${word}"`).join(" OR "), project ?? 0, project ?? 0, most],
    );
    return rows.flatMap(({ id }) => this.observation(id) ?? []);
  }

  /** Everything. */
  dump(): Dump {
    return this.#database.snapshot(() => ({
      projects: this.projects().map(({ id, name, description, status, created_at }) => ({
        name,
        description,
        status,
        created_at,
        concepts: this.#names("project_concepts", "project", id),
      })),
      concepts: this.#database.select({ name: "text", description: "text" }, "FROM concepts ORDER BY id"),
      observations: this.#observations("ORDER BY observations.id", []).map(({ session, event, ...entry }) => ({
        ...entry,
        ...(session !== undefined && { session }),
        ...(event !== undefined && { event }),
        concepts: this.#names("observation_concepts", "observation", entry.id),
      })),
      links: this.#database.select(
        { from: ["integer", "origin"], to: ["integer", "target"], relation: "text" },
        "FROM observation_links ORDER BY origin, target, relation",
      ),
    }));
  }

  /** How many of each were new. */
  import(dump: Dump): { readonly projects: number; readonly observations: number } {
    return this.#write(() => {
      let [projects, observations] = [0, 0];
      for (const { concepts, ...entry } of dump.projects) {
        const known = this.#named(entry.name);
        if (known === undefined) projects++;
        const { id } = known ?? this.#addProject(entry);
        for (const concept of concepts)
          this.#database.run("INSERT OR IGNORE INTO project_concepts (project, concept) VALUES (?, ?)", [
            id,
            this.#concept(concept),
          ]);
      }
      for (const { name, description } of dump.concepts) this.#concept(name, description);
      const ids = new Map<number, number>();
      for (const { id, project, concepts, session, event, ...entry } of dump.observations) {
        const owner = this.#named(project) ?? this.#addProject({ name: project, description: "", status: "active" });
        const known = this.#same(owner.id, entry);
        if (known === undefined) observations++;
        const origin = session === undefined ? undefined : { session, event: event ?? 0 };
        const own = known ?? this.#observe({ ...entry, project: owner.id, origin, event });
        ids.set(id, own);
        for (const concept of concepts) this.#linkConcept(own, concept);
      }
      for (const { from, to, relation } of dump.links) {
        const [origin, target] = [ids.get(from), ids.get(to)];
        if (origin !== undefined && target !== undefined) this.linkObservations(origin, target, relation);
      }
      return { projects, observations };
    });
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

  #observe(entry: NewObservation & { readonly created_at: string; readonly event?: number | undefined }): number {
    const { project, kind, text, created_at, origin, event = origin?.event } = entry;
    const content = cleaned(text);
    this.#database.run(
      "INSERT INTO observations (project, kind, content, created_at, session, event) VALUES (?, ?, ?, ?, ?, ?)",
      [project, kind, content, created_at, origin?.session ?? null, event ?? null],
    );
    const id = this.#database.first({ id: ["integer", "last_insert_rowid()"] }, "")?.id ?? 0;
    this.#database.run("INSERT INTO observation_words (rowid, content) VALUES (?, ?)", [
      id,
      indexWords(content).join(" "),
    ]);
    return id;
  }

  #same(
    project: number,
    { kind, text, created_at }: { kind: string; text: string; created_at: string },
  ): number | undefined {
    return this.#database.first(
      { id: "integer" },
      "FROM observations WHERE project = ? AND kind = ? AND content = ? AND created_at = ?",
      [project, kind, cleaned(text), created_at],
    )?.id;
  }

  #concept(name: string, description = ""): number {
    const short = oneLine(name);
    this.#database.run(
      `INSERT INTO concepts (name, description) VALUES (?, ?) ON CONFLICT (name)
        DO UPDATE SET description = excluded.description WHERE description = ''`,
      [short, oneLine(description, 2000)],
    );
    return this.#database.first({ id: "integer" }, "FROM concepts WHERE name = ?", [short])?.id ?? 0;
  }

  #linkConcept(observation: number, concept: string): void {
    this.#database.run("INSERT OR IGNORE INTO observation_concepts (observation, concept) VALUES (?, ?)", [
      observation,
      this.#concept(concept),
    ]);
  }

  #names(table: string, column: string, id: number): readonly string[] {
    const rows = this.#database.select(
      { name: ["text", "concepts.name"] },
      `FROM ${table} JOIN concepts ON concepts.id = concept WHERE ${column} = ? ORDER BY concepts.id`,
      [id],
    );
    return rows.map(({ name }) => name);
  }

  #observations(rest: string, values: readonly (string | number)[]): readonly Observation[] {
    const rows = this.#database.select(OBSERVATION, `${FROM_OBSERVATIONS} ${rest}`, values);
    return rows.map((row) => ({ ...row, kind: row.kind as ObservationKind }));
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
