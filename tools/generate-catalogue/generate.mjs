/**
 * Writes assets/models.txt from a copy of https://models.dev/api.json:
 *
 *     node tools/generate-catalogue.mjs api.json --date 2026-07-02
 *
 * It is read by the same code as `oxbow models --refresh` uses.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ToolError } from "../entry.mjs";
import { ROOT, setUp } from "../setup/set-up.mjs";

const COMMENT = `Facts about models: limits in tokens, prices in US dollars per million tokens.
Source of the figures: models.dev (https://models.dev, MIT licence), as of the date below. Prices change; a provider's bill is what counts.
Written by tools/generate-catalogue.mjs; the form is explained in src/providers/catalogue/table.ts.
id context[/readable] output input-rate output-rate cache-read-rate cache-write-rate abilities (t tools, i images, r reasoning, a audio) [>tokens rates ...]`;

export async function main(args) {
  const { values, positionals } = parseArgs({ args, options: { date: { type: "string" } }, allowPositionals: true });
  const [path] = positionals;
  if (path === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(values.date ?? "")) {
    throw new ToolError("usage: node tools/generate-catalogue.mjs API.json --date YYYY-MM-DD", 2);
  }
  await setUp({ root: ROOT, need: "install" });
  const { fromModelsDev, renderTable } = await loadSources();
  const table = fromModelsDev(JSON.parse(readFileSync(path, "utf8")), values.date);
  const text = renderTable(table, COMMENT);
  writeFileSync(join(ROOT, "assets", "models.txt"), text);
  const models = [...table.providers.values()].reduce((sum, each) => sum + each.size, 0);
  console.log(`assets/models.txt: ${table.providers.size} providers, ${models} models, ${text.length} bytes`);
}

async function loadSources() {
  const { build } = await import("esbuild");
  const folder = join(ROOT, "src", "providers", "catalogue");
  const { outputFiles } = await build({
    stdin: {
      contents: 'export * from "./models-dev.js"; export * from "./table.js";',
      resolveDir: folder,
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString("base64")}`);
}
