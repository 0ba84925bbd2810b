/** Lists the tests whose failure does not count, one name on a line. `npm run repeat -- --window FILE` writes it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/set-up.mjs";

export const QUARANTINE = join(ROOT, "test", "quarantine.txt");

export function readQuarantine(file = QUARANTINE) {
  return new Set(existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []);
}
