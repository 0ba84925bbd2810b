/**
 * Optional packages that some tests compare with. A test looks in this project and in the folder of OXBOW_TEST_PACKAGES.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));

export function findPackage(name: string, folder: string | undefined): string | undefined {
  const places = [ROOT, ...(folder === undefined ? [] : [folder])].map((place) => resolve(place, "node_modules", name));
  return places.find(existsSync);
}
