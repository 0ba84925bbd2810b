/** An index of words is made again when the words of a text are found by another rule than when it was filled. */
import { WORD_RULE } from "../base/words/index-words.js";
import type { Database } from "../system/sqlite/database.js";

export function followWordRule(database: Database, rebuild: () => void): void {
  const follows = () =>
    database.first({ rule: ["integer", "user_version"] }, "FROM pragma_user_version")?.rule === WORD_RULE;
  if (follows()) return;
  database.transaction("FULL", () => {
    // Another process may have been faster.
    if (follows()) return;
    rebuild();
    database.script(`PRAGMA user_version = ${WORD_RULE}`);
  });
}
