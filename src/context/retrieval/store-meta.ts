/** Describes what a store knows of itself: its embedding model, and how often it has changed. */
import type { Database } from "../../system/sqlite/database.js";
import type { Binding } from "./store-types.js";
import { prefixesFor } from "./task-prefixes.js";

export class StoreMeta {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Grows with each change of the chunks or vectors. */
  get version(): number {
    return Number(this.#get("version") ?? 0);
  }

  changed(): void {
    this.#set("version", String(this.version + 1));
  }

  get binding(): Binding | undefined {
    const model = this.#get("model");
    if (model === undefined) return undefined;
    const dimensions = this.#get("dimensions");
    return {
      model,
      dimensions: dimensions === undefined ? undefined : Number(dimensions),
      document: this.#get("document prefix") ?? "",
      question: this.#get("question prefix") ?? "",
    };
  }

  /** Undefined for a store that is searched by words alone. */
  bind(model: string | undefined): void {
    for (const name of ["model", "dimensions", "document prefix", "question prefix"])
      this.#database.run("DELETE FROM meta WHERE name = ?", [name]);
    if (model === undefined) return;
    const { document, question } = prefixesFor(model);
    this.#set("model", model);
    this.#set("document prefix", document);
    this.#set("question prefix", question);
  }

  setDimensions(dimensions: number): void {
    this.#set("dimensions", String(dimensions));
  }

  #get(name: string): string | undefined {
    return this.#database.first({ value: "text" }, "FROM meta WHERE name = ?", [name])?.value;
  }

  #set(name: string, value: string): void {
    this.#database.run("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [name, value]);
  }
}
