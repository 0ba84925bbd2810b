/**
 * The user's own providers: the files of their folder and the profile's `[providers.NAME]` tables.
 *
 * 1. The profile wins over a `.conf` file, and both over what is built in.
 * 2. A mistake in one provider's description does not affect the others.
 */
import { isJsonObject } from "../../protocol/json.js";
import { findProvider } from "../named.js";
import { FieldError, ownProvider, type ProviderFields } from "../own-provider.js";
import { type FolderEntry, providerFile, readProviderFolder, readVariant } from "../provider-folder.js";
import { readProviderTable } from "../provider-tables.js";
import { OFFLINE } from "./model-parts.js";
import type { ProgramVariant, ProviderEntry, ProviderTables } from "./provider-directory.js";

/** By name, sorted. */
export function ownProviders(folder: string | undefined, tables: ProviderTables | undefined): readonly ProviderEntry[] {
  const files = folder === undefined ? [] : readProviderFolder(folder);
  const written = isJsonObject(tables?.value) ? tables.value : {};
  const names = [...new Set([...files.map((file) => file.name), ...Object.keys(written)])].sort();
  const programs = files.filter((file) => file.kind === "executable");
  return names.map((name) => {
    if (name === OFFLINE) return { kind: "broken", name, problem: `${OFFLINE} is built in: choose another name` };
    const file = files.find((candidate) => candidate.name === name);
    try {
      const entry = file === undefined ? undefined : entryOf(file, programs);
      const table = written[name];
      if (table === undefined && entry !== undefined) return entry;
      if (entry !== undefined && entry.kind !== "http") return entry;
      const origin = `${tables?.file} (providers.${name})`;
      const base = entry?.provider ?? findProvider(name);
      const fields = readProviderTable(name, table ?? {}, tables?.file ?? "");
      return { kind: "http", name, provider: placed(origin, () => ownProvider(name, fields, { base, origin })) };
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      return { kind: "broken", name, problem: error.message };
    }
  });
}

/** Providers of a project: they get a key only if its variable begins with the provider's name. */
export function projectProviders(files: readonly string[]): readonly ProviderEntry[] {
  return files
    .flatMap((path) => providerFile(path))
    .map((file): ProviderEntry => {
      const { name } = file;
      if (file.kind === "executable") return { ...file, ofProject: true };
      try {
        const entry = entryOf(file);
        const key = entry.kind === "http" ? entry.provider.keyName : undefined;
        const named = file.kind === "variant" ? readVariant(file.file).auth_env : undefined;
        if (key === undefined || named === undefined || isOwnVariable(key, name)) return entry;
        const problem = `${file.file}: a provider of a project may only use variables that begin with its name, not ${key}`;
        return { kind: "broken", name, problem };
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        return { kind: "broken", name, problem: error.message };
      }
    });
}

/** `ACME_API_KEY` is one of the provider acme. */
export function isOwnVariable(variable: string, provider: string): boolean {
  return variable.toUpperCase().startsWith(`${provider.toUpperCase().replace(/\W/g, "_")}_`);
}

/** A variant of a program is that program with other settings. */
function entryOf(file: FolderEntry, programs: readonly FolderEntry[] = []): ProviderEntry {
  if (file.kind !== "variant") return file;
  const { name, file: origin } = file;
  const fields = readVariant(
    origin,
    programs.map((program) => program.name),
  );
  const program = programs.find((each) => each.name === fields.protocol);
  if (program !== undefined)
    return { kind: "executable", name, file: program.file, variant: programVariant(fields, origin) };
  return { kind: "http", name, provider: placed(origin, () => ownProvider(name, fields, { origin })) };
}

function programVariant(fields: ProviderFields, origin: string): ProgramVariant {
  if (fields.headers !== undefined)
    throw new FieldError(`${origin}: a program makes its own requests, so it takes no headers.`);
  const { model, url, auth_env: keyName, description, max_tokens, context_tokens } = fields;
  return {
    origin,
    ...(model !== undefined && { model }),
    ...(url !== undefined && { url }),
    ...(keyName !== undefined && { keyName }),
    ...(description !== undefined && { description }),
    ...(max_tokens !== undefined && { maxOutputTokens: max_tokens }),
    ...(context_tokens !== undefined && { maxContextTokens: context_tokens }),
  };
}

/** An error in the whole table names the table. */
function placed<T>(origin: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof FieldError ? new FieldError(`${origin}: ${error.message}`) : error;
  }
}
