import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, setUp } from "../setup/set-up.mjs";

/** Runs the conformance adapter of this clone (JSON lines on stdin and stdout), and builds it first if necessary. */
export async function main() {
  await setUp({ root: ROOT, need: "run" });
  await import(pathToFileURL(join(ROOT, "dist", "adapter.js")).href);
}
