/** Finds how this copy of Oxbow was installed, what starts it, and what updates or removes it. */
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { readableShellWord } from "../base/shell-word.js";
import type { Variables } from "../base/variables.js";
import { statOf } from "../system/git/git-folder.js";
import { realpathOrSelf } from "../system/real-path.js";
import { isWithin } from "../system/within.js";

/** `project`: a dependency of one. `copy`: none of the others. */
export type InstallationKind = "clone" | "npm global" | "npx" | "project" | "copy";

export interface Installation {
  readonly kind: InstallationKind;
  /** The folder of the package. */
  readonly root: string;
  /** The links on PATH that start this copy. */
  readonly links: readonly CommandLink[];
  /** One sentence for the user. */
  readonly about: string;
  /** The commands that update and remove the program. */
  readonly update: readonly string[];
  readonly remove: readonly string[];
}

export interface CommandLink {
  readonly path: string;
  /** npm made it, and removes it with the package. */
  readonly isOfNpm: boolean;
}

const NAMES = ["oxbow", "ox"];

export function findInstallation({ PATH = "" }: Variables, from = fileURLToPath(import.meta.url)): Installation {
  const root = packageAround(realpathOrSelf(from));
  const links = linksTo(root, PATH);
  return { root, links, ...described(root, links) };
}

function described(
  root: string,
  links: readonly CommandLink[],
): Pick<Installation, "kind" | "about" | "update" | "remove"> {
  const place = readableShellWord(root);
  if (existsSync(join(root, "src", "main"))) {
    const npm = links.find(({ isOfNpm }) => isOfNpm);
    return {
      kind: "clone",
      about: `runs from a clone: ${root}`,
      update: [
        existsSync(join(root, ".git")) ? `git -C ${place} pull` : `replace the files in ${place}`,
        // Such a link starts the build itself; the script of the clone builds first.
        ...(npm === undefined ? [] : [`npm --prefix ${place} run build`]),
      ],
      remove: [
        ...(npm === undefined ? [] : [`npm uninstall --global oxbow${prefixFlag(dirname(dirname(npm.path)))}`]),
        `rm -r ${place}`,
      ],
    };
  }
  const above = dirname(dirname(root));
  if (/[\\/]_npx[\\/]/.test(root)) {
    return {
      kind: "npx",
      about: `was fetched by npx: ${root}`,
      update: ["npx oxbow@latest"],
      remove: [`rm -r ${readableShellWord(above)}`],
    };
  }
  if (basename(dirname(root)) !== "node_modules") {
    return {
      kind: "copy",
      about: `runs from a copy of the package: ${root}`,
      update: [`replace the files in ${place}`],
      remove: [`rm -r ${place}`],
    };
  }
  if (existsSync(join(above, "package.json"))) {
    return {
      kind: "project",
      about: `is a dependency of the project in ${above}`,
      update: [`npm --prefix ${readableShellWord(above)} install oxbow@latest`],
      remove: [`npm --prefix ${readableShellWord(above)} uninstall oxbow`],
    };
  }
  const prefix = basename(above) === "lib" ? dirname(above) : above;
  return {
    kind: "npm global",
    about: `was installed with npm for all folders: ${root}`,
    update: [`npm install --global oxbow@latest${prefixFlag(prefix)}`],
    remove: [`npm uninstall --global oxbow${prefixFlag(prefix)}`],
  };
}

/** npm's default prefix is the folder that Node is installed in. */
function prefixFlag(prefix: string): string {
  const isDefault = realpathOrSelf(prefix) === dirname(dirname(realpathOrSelf(process.execPath)));
  return isDefault ? "" : ` --prefix ${readableShellWord(prefix)}`;
}

function packageAround(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (nameOf(folder) === "oxbow") return folder;
  }
  return dirname(file);
}

function nameOf(folder: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name;
  } catch {
    return undefined;
  }
}

function linksTo(root: string, path: string): readonly CommandLink[] {
  const folders = [...new Set(path.split(delimiter).filter((folder) => isAbsolute(folder)))];
  return folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .filter((file) => statOf(file)?.isSymbolicLink())
    .filter((file) => isWithin(realpathOrSelf(file), root))
    .map((file) => ({ path: file, isOfNpm: /(^|[\\/])node_modules[\\/]oxbow[\\/]/.test(readlinkSync(file)) }));
}
