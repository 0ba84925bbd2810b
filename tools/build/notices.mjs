import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The licences of the packages that are in the bundle, as one text. Legal comments of their sources stay in the code. */
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
  const file = readdirSync(path).find((each) => /^(licen[cs]e|copying)/i.test(each));
  const text = file === undefined ? "" : `\n\n${readFileSync(join(path, file), "utf8").trim()}`;
  return `${name} ${version} (${license})${text}`;
}
