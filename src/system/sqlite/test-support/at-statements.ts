/** For tests of what a process leaves that dies: a copy of the files before a statement is what kill -9 leaves there. */
import { Database } from "../database.js";

/** Calls `before` with the number of each statement that `work` makes in any database; returns how many there were. */
export async function atStatements(work: () => Promise<unknown>, before: (at: number) => void): Promise<number> {
  const { run, script } = Database.prototype;
  let count = 0;
  Database.prototype.run = function (...args) {
    before(++count);
    return run.apply(this, args);
  };
  Database.prototype.script = function (...args) {
    before(++count);
    return script.apply(this, args);
  };
  try {
    await work();
  } finally {
    Object.assign(Database.prototype, { run, script });
  }
  return count;
}
