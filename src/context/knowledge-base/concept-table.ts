/** Concepts: named terms that projects and observations share. */
import type { Database } from "../../system/sqlite/database.js";
import { oneLine } from "./dump.js";

export interface Concept {
  readonly name: string;
  readonly description: string;
}

/** Describes what a concept belongs to. */
export type ConceptOwner = "project" | "observation";

export class ConceptTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** By name, with the number of projects and observations that have it. */
  list(): readonly (Concept & { readonly uses: number })[] {
    const uses = `(SELECT count(*) FROM observation_concepts WHERE concept = concepts.id)
      + (SELECT count(*) FROM project_concepts WHERE concept = concepts.id)`;
    return this.#database.select(
      { name: "text", description: "text", uses: ["integer", uses] },
      "FROM concepts ORDER BY name COLLATE NOCASE",
    );
  }

  /** In the order in which they were added. */
  all(): readonly Concept[] {
    return this.#database.select({ name: "text", description: "text" }, "FROM concepts ORDER BY id");
  }

  /** Its id. A description replaces an empty one. */
  put(name: string, description = ""): number {
    const short = oneLine(name);
    this.#database.run(
      `INSERT INTO concepts (name, description) VALUES (?, ?) ON CONFLICT (name)
        DO UPDATE SET description = excluded.description WHERE description = ''`,
      [short, oneLine(description, 2000)],
    );
    return this.#database.first({ id: "integer" }, "FROM concepts WHERE name = ?", [short])?.id ?? 0;
  }

  link(owner: ConceptOwner, id: number, concept: string): void {
    this.#database.run(`INSERT OR IGNORE INTO ${owner}_concepts (${owner}, concept) VALUES (?, ?)`, [
      id,
      this.put(concept),
    ]);
  }

  namesOf(owner: ConceptOwner, id: number): readonly string[] {
    const rows = this.#database.select(
      { name: ["text", "concepts.name"] },
      `FROM ${owner}_concepts JOIN concepts ON concepts.id = concept WHERE ${owner} = ? ORDER BY concepts.id`,
      [id],
    );
    return rows.map(({ name }) => name);
  }
}
