/** The edit tools for measuring a model: the real ones, on a file in a temporary folder. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tool, ToolSpec } from "../../engine/ports.js";
import { resultText } from "../../protocol/content.js";
import type { EditFormat } from "../../providers/abilities/probes.js";
import { makeTemporaryFolder } from "../../system/temporary-entries.js";
import { createApplyPatchTool } from "../../tools/apply-patch.js";
import { CATALOG } from "../../tools/catalog.js";
import { createEditTool } from "../../tools/edit.js";
import { Workspace } from "../../tools/workspace.js";

const FILE = "shop.js";

export function editFormats(): { readonly string_replace: EditFormat; readonly patch: EditFormat } {
  return {
    string_replace: formatOf(CATALOG.edit, createEditTool),
    patch: formatOf(CATALOG.apply_patch, createApplyPatchTool),
  };
}

function formatOf({ name, description, inputSchema }: ToolSpec, create: (workspace: Workspace) => Tool): EditFormat {
  return {
    tool: { name, description, inputSchema },
    async apply(before, call) {
      const folder = makeTemporaryFolder("models");
      try {
        await writeFile(join(folder, FILE), before);
        const tool = create(await Workspace.open(folder));
        const args = (await tool.canonical?.(call.args)) ?? call.args;
        const outcome = await tool.run(args, { signal: new AbortController().signal, progress: () => {} });
        const words = resultText(outcome.content);
        if (outcome.status !== "ok") return { problem: words.split("\n")[0] ?? "" };
        return { after: await readFile(join(folder, FILE), "utf8").catch(() => "") };
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
