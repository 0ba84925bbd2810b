/**
 * Optional packages that some tests compare with. A test looks in this project and in the folder of OXBOW_TEST_PACKAGES; if it finds
 * no package, it says so and is skipped.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

/** The folder of the package, or undefined with one message. */
export function findPackage(name: string, folder: string | undefined): string | undefined {
  const places = [ROOT, ...(folder === undefined ? [] : [folder])].map((place) => resolve(place, "node_modules", name));
  const found = places.find(existsSync);
  if (found === undefined) console.log(`skipped: ${name} is not installed (install it, or set OXBOW_TEST_PACKAGES)`);
  return found;
}
