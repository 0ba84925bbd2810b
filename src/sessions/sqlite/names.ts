/** The rows of `names`: kinds, originators, tools and outcomes are written once and referenced by number. */

import type { Database } from "../../system/sqlite/database.js";
import { StoreError } from "../store.js";

export class Names {
  readonly #database: Database;
  readonly #numbers = new Map<string, number>();
  readonly #names = new Map<number, string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Names that were learnt in a transaction that was undone are not in the database. */
  forget(): void {
    this.#numbers.clear();
    this.#names.clear();
  }

  /** Inside a transaction: a name that is new gets its number. */
  numberOf(name: string): number {
    let number = this.find(name);
    if (number !== undefined) return number;
    this.#database.run("INSERT INTO names (name) VALUES (?)", [name]);
    number = this.find(name);
    if (number === undefined) throw new StoreError("damaged", "The session database is damaged: a name is not there.");
    return number;
  }

  /** undefined when the name was never used. */
  find(name: string): number | undefined {
    let number = this.#numbers.get(name);
    if (number !== undefined) return number;
    number = this.#database.first({ number: "integer" }, "FROM names WHERE name = ?", [name])?.number;
    if (number !== undefined) this.#numbers.set(name, number);
    return number;
  }

  nameOf(number: number): string {
    let name = this.#names.get(number);
    if (name !== undefined) return name;
    name = this.#database.first({ name: "text" }, "FROM names WHERE number = ?", [number])?.name;
    if (name === undefined) throw new StoreError("damaged", "The session database is damaged: a name is missing.");
    this.#names.set(number, name);
    return name;
  }
}
