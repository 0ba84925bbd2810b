import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Of packages that come without theirs, from their repositories. */
const LICENCES = fileURLToPath(new URL("licences", import.meta.url));

/**
 * Joins the licences of the packages in the bundle. Legal comments of their sources stay in the code. Fails for a package without a
 * text: its licence asks for it.
 */
export function thirdPartyNotices({ root, metafile }) {
  const packages = [...new Set(Object.values(metafile.outputs).flatMap(bundledPackages))].sort();
  return packages.map((folder) => describePackage(root, folder)).join(`\n\n${"-".repeat(80)}\n\n`);
}

function bundledPackages({ inputs }) {
  return Object.keys(inputs).flatMap((path) => path.match(/^.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? []);
}

function describePackage(root, folder) {
  const path = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  return `${name} ${version} (${license})\n\n${readFileSync(licenceFile(path, name), "utf8").trim()}`;
}

function licenceFile(path, name) {
  const own = readdirSync(path).find((each) => /^(licen[cs]e|copying)/i.test(each));
  if (own !== undefined) return join(path, own);
  const kept = join(LICENCES, `${name.replace("/", "+")}.txt`);
  if (existsSync(kept)) return kept;
  throw new Error(`${name} is bundled and has no licence text. Put the one of its repository into ${kept}.`);
}
