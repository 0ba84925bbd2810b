/** External cases beside the project (`npm run suites` says where). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "../../src/protocol/json.js";

export const SUITES = process.env.OXBOW_SUITES || fileURLToPath(new URL("../../../shared/suites", import.meta.url));

/** The cases of one file; empty, with a message, if the suites are missing. */
export function suiteCases(file: string): readonly (JsonObject & { readonly id: string })[] {
  const path = join(SUITES, file);
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8")).cases;
  console.log(`skipped: no suite at ${path} (set OXBOW_SUITES)`);
  return [];
}
