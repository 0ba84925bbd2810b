/** Approved files as the runtime gives them, from texts. */
import type { ExtensionFile, ExtensionKind, ExtensionScope } from "../../../base/extension-files.js";

export interface MemoryFile {
  readonly source?: string;
  readonly scope?: ExtensionScope;
  readonly name: string;
  readonly text: string;
}

export function memoryFile(kind: ExtensionKind, { source = "/p/.oxbow", scope = "project", name, text }: MemoryFile) {
  const path = `${source}/${name}`;
  const file: ExtensionFile = {
    kind,
    scope,
    path,
    source,
    name,
    executable: name.endsWith(".sh"),
    sha256: text,
    read: async () => text,
    program: async () => `/copies${path}`,
  };
  return file;
}
