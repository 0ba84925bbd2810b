/** The observations of all projects, and the index of their words. */
import { indexWords, questionWords } from "../../base/words/index-words.js";
import type { Database } from "../../system/sqlite/database.js";
import { cleaned, type ObservationKind } from "./dump.js";
import type { NewObservation, Observation } from "./records.js";

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

/** Words of a question that are searched at most. */
const MOST_WORDS = 32;

export class ObservationTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** In the order in which they were added. */
  all(): readonly Observation[] {
    return this.#select("ORDER BY observations.id", []);
  }

  get(id: number): Observation | undefined {
    return this.#select("WHERE observations.id = ?", [id])[0];
  }

  /** The newest first. */
  recent(project: number, most: number): readonly Observation[] {
    return this.#select("WHERE observations.project = ? ORDER BY observations.id DESC LIMIT ?", [project, most]);
  }

  /** Counts how many of each kind. */
  counts(project: number): Readonly<Partial<Record<ObservationKind, number>>> {
    const rows = this.#database.select(
      { kind: "text", count: ["integer", "count(*)"] },
      "FROM observations WHERE project = ? GROUP BY kind",
      [project],
    );
    return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
  }

  /** The id of an equal one. */
  same(
    project: number,
    { kind, text, created_at }: { kind: string; text: string; created_at: string },
  ): number | undefined {
    return this.#database.first(
      { id: "integer" },
      "FROM observations WHERE project = ? AND kind = ? AND content = ? AND created_at = ?",
      [project, kind, cleaned(text), created_at],
    )?.id;
  }

  add(entry: NewObservation & { readonly created_at: string; readonly event?: number | undefined }): number {
    const { project, kind, text, created_at, origin, event = origin?.event } = entry;
    const content = cleaned(text);
    this.#database.run(
      "INSERT INTO observations (project, kind, content, created_at, session, event) VALUES (?, ?, ?, ?, ?, ?)",
      [project, kind, content, created_at, origin?.session ?? null, event ?? null],
    );
    const id = this.#database.first({ id: ["integer", "last_insert_rowid()"] }, "")?.id ?? 0;
    this.#index(id, content);
    return id;
  }

  remove(id: number): boolean {
    return this.#database.run("DELETE FROM observations WHERE id = ?", [id]) > 0;
  }

  /** The best first. */
  search(
    question: string,
    { most, project = 0 }: { readonly most: number; readonly project?: number },
  ): readonly Observation[] {
    const words = questionWords(question).slice(0, MOST_WORDS);
    if (words.length === 0) return [];
    const rows = this.#database.select(
      { id: ["integer", "observation_words.rowid"] },
      `FROM observation_words JOIN observations ON observations.id = observation_words.rowid
        WHERE observation_words MATCH ? AND (? = 0 OR observations.project = ?) ORDER BY rank LIMIT ?`,
      [words.map((word) => `"${word}"`).join(" OR "), project, project, most],
    );
    return rows.flatMap(({ id }) => this.get(id) ?? []);
  }

  reindex(): void {
    this.#database.run("INSERT INTO observation_words (observation_words) VALUES ('delete-all')");
    for (const { id, text } of this.all()) this.#index(id, text);
  }

  #index(id: number, content: string): void {
    this.#database.run("INSERT INTO observation_words (rowid, content) VALUES (?, ?)", [
      id,
      indexWords(content).join(" "),
    ]);
  }

  #select(rest: string, values: readonly (string | number)[]): readonly Observation[] {
    const rows = this.#database.select(OBSERVATION, `${FROM_OBSERVATIONS} ${rest}`, values);
    return rows.map((row) => ({ ...row, kind: row.kind as ObservationKind }));
  }
}
