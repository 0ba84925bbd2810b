/**
 * Finds the newest model of a family in the catalogue. The path to the first request uses this, so it reads names only and none of the
 * facts.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import shipped from "../../../assets/models.txt";
import type { NamedProvider } from "../named.js";

/** The place of the catalogue that was fetched last. */
export function fetchedCatalogue(cache: string): string {
  return join(cache, "models.txt");
}

/** The default model of a provider; undefined if it has none, or the catalogue lists none of its family. */
export function defaultModelOf(
  { name, wire, defaultModel }: Pick<NamedProvider, "name" | "wire" | "defaultModel">,
  cache?: string,
): string | undefined {
  if (!defaultModel?.includes("*")) return defaultModel;
  const fetched = cache === undefined ? "" : readFetched(cache);
  const texts = dateOf(fetched) > dateOf(shipped) ? [fetched, shipped] : [shipped];
  // A provider without a section has the models of the service whose protocol it speaks.
  const sections = [name, wire.replace(/-.*/, "")];
  for (const text of texts) {
    const ids = sections.map((section) => idsOf(text, section)).find((found) => found.length > 0) ?? [];
    const newest = newestOf(defaultModel, ids);
    if (newest !== undefined) return newest;
  }
  return undefined;
}

/** `*` stands for the version: `gpt-*-mini` is `gpt-5-mini` and `gpt-5.4-mini`, never one with a date. */
function newestOf(pattern: string, ids: readonly string[]): string | undefined {
  const [before = "", after = ""] = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const form = new RegExp(`^${before}(\\d{1,2})(?:[.p-](\\d{1,2}))?${after}$`);
  let newest: { readonly id: string; readonly version: number } | undefined;
  for (const id of ids) {
    const [, major, minor = 0] = form.exec(id) ?? [];
    const version = Number(major) * 100 + Number(minor);
    if (major !== undefined && (newest === undefined || version > newest.version)) newest = { id, version };
  }
  return newest?.id;
}

function idsOf(text: string, section: string): readonly string[] {
  const start = text.indexOf(`\n[${section}]\n`);
  if (start < 0) return [];
  const end = text.indexOf("\n[", start + 1);
  return text.slice(start, end < 0 ? undefined : end).match(/^[^\s[]\S*/gm) ?? [];
}

function dateOf(text: string): string {
  return /^date (\d{4}-\d{2}-\d{2})\b/m.exec(text)?.[1] ?? "";
}

function readFetched(cache: string): string {
  try {
    return readFileSync(fetchedCatalogue(cache), "utf8");
  } catch {
    return "";
  }
}
