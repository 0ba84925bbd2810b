import { basename, dirname, join } from "node:path";
import type { HeadTree } from "../../system/git/head-tree.js";
import type { IgnoreRules, IgnoreSource } from "../../system/overlay/change-set.js";
import { isWithin } from "../../system/within.js";
import { type IgnoreTop, ignoreTop, loadScope, scopeAbove } from "./ignore-files.js";
import { IgnoreScope, parseIgnoreFile } from "./ignore-rules.js";

/** The ignore files as the search tools read them, for the changes of a command. Oxbow's own folders change with every call and are ignored. */
export function ignoreSource(ownFolders: readonly string[]): IgnoreSource {
  const own = new Set(ownFolders);
  const scopes = new WeakMap<IgnoreRules, IgnoreScope>();
  let top: IgnoreTop | undefined;
  return {
    async above(root) {
      top = await ignoreTop(root);
      const scope = await scopeAbove(root, top);
      if (scope !== undefined) scopes.set(scope, scope);
      return scope;
    },
    async rules({ path, names, above }) {
      top ??= await ignoreTop(path);
      const parent = above === undefined ? undefined : scopes.get(above);
      const scope = await loadScope({ name: basename(path), parent, top, names, at: (name) => join(path, name) });
      const rules = {
        ignores: (name: string, kind: "file" | "folder") => own.has(join(path, name)) || scope.ignores(name, kind),
      };
      scopes.set(rules, scope);
      return rules;
    },
  };
}

/** The `.gitignore` files of the commit, as git reads them. */
export function ignoredBy(head: HeadTree): (folder: string) => boolean {
  const scopes = new Map<string, IgnoreScope>();
  const scopeOf = (folder: string): IgnoreScope => {
    const known = scopes.get(folder);
    if (known !== undefined) return known;
    const isTop = folder === head.top;
    const text = head.text(join(folder, ".gitignore"));
    const scope = new IgnoreScope({
      name: basename(folder),
      parent: isTop || !isWithin(folder, head.top) ? undefined : scopeOf(dirname(folder)),
      rules: text === undefined ? {} : { ".gitignore": parseIgnoreFile(text) },
      isRepository: isTop,
    });
    scopes.set(folder, scope);
    return scope;
  };
  return (folder) => scopeOf(dirname(folder)).ignores(basename(folder), "folder");
}
