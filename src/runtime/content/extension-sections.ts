/** What extends a session, by kind, for a client that lists it. A new kind of extension needs only a line here. */
import { basename, dirname } from "node:path";
import type { ExtensionFile, ExtensionFiles, ExtensionKind } from "../../base/extension-files.js";
import type { ExtensionSection } from "../../protocol/queries.js";
import { shownPath } from "../../system/path-bytes.js";

const SECTIONS: readonly { readonly title: string; readonly kinds: readonly ExtensionKind[] }[] = [
  { title: "Skills", kinds: ["skill"] },
  { title: "Agents", kinds: ["agent"] },
  { title: "MCP servers", kinds: ["mcp"] },
  { title: "Hooks", kinds: ["hook", "event-hooks"] },
  { title: "Tools", kinds: ["tool"] },
  { title: "Commands", kinds: ["command", "prompt"] },
  { title: "Plugins", kinds: ["plugin"] },
];

/** Sections without content are left out. */
export function extensionSections(files: ExtensionFiles | undefined): readonly ExtensionSection[] {
  return SECTIONS.flatMap(({ title, kinds }) => {
    const found = kinds.flatMap((kind) => files?.of(kind) ?? []).filter(isUsed);
    const byName = new Map(found.map((file) => [nameOf(file), file.scope] as const));
    const items = [...byName].map(([name, scope]) => ({ name, state: scope }));
    return items.length === 0 ? [] : [{ title, items }];
  });
}

const RUN_KINDS: ReadonlySet<ExtensionKind> = new Set(["hook", "tool", "command"]);

/** Files beside a program are not extensions themselves. */
function isUsed({ kind, executable }: ExtensionFile): boolean {
  return executable || !RUN_KINDS.has(kind);
}

/** A skill is named by its folder, most others by their file, and an entry of a file by the entry. */
function nameOf({ kind, name, entry }: ExtensionFile): string {
  const plain = kind === "skill" ? dirname(name) : name.replace(/\.md$/, "");
  const shown = plain === "." ? basename(name) : plain;
  return shownPath(entry === undefined ? shown : `${entry} (${name})`);
}
