/**
 * The `[permissions]` of the settings files, and the preset files that they name.
 *
 * 1. `permissions = "FILE"` and `preset = "FILE"` add a file of rules: a name is a file in `presets` of the configuration folder, a path is
 *    relative to the file that names it.
 * 2. A project can only make decisions stricter: with rules that ask or deny, `edits = "ask"` and `preset = "strict"`.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../../base/usage-error.js";
import { readLayer } from "../../feature/layer.js";
import type { Layer, Profile } from "../../feature/setting.js";
import { isJsonObject } from "../../protocol/json.js";
import { readRuleWords } from "./lasting-rule.js";
import { parsePermissions } from "./parse-rules.js";
import type { RuleSource } from "./rule.js";

export interface PermissionTable extends RuleSource {
  readonly table: unknown;
}

export interface PermissionContext {
  /** The user's configuration folder. */
  readonly config: string;
  readonly refuse: (layer: Layer, why: string) => void;
  /** Rules of the command line. */
  readonly flags: readonly { readonly name: "allow" | "deny"; readonly texts: readonly string[] }[];
}

/** Presets without a file. */
const KNOWN_PRESETS: readonly unknown[] = [undefined, "quiet", "strict"];

/** An invalid rule may be the one that denies, so the run stops. */
export async function permissionTables(
  layers: readonly Layer[],
  context: PermissionContext,
): Promise<readonly PermissionTable[]> {
  const tables: PermissionTable[] = [];
  for (const layer of layers) {
    if (layer.scope === "project") tables.push(ofProject(layer, context));
    else tables.push(...(await ofUser(layer, context)));
  }
  for (const { name, texts } of context.flags) {
    const flag = `--${name}`;
    const rules = texts.map((text) => readRuleWords(text, { flag, decision: name }));
    tables.push({ table: { rules }, file: flag, scope: "user" });
  }
  const problems = tables.flatMap(({ table, file, scope }) => {
    return parsePermissions(table, { file, scope }, { home: homedir() }).problems;
  });
  if (problems.length > 0) throw new UsageError(problems.join("\noxbow: "));
  return tables;
}

async function ofUser({ path: file, profile }: Layer, context: PermissionContext): Promise<readonly PermissionTable[]> {
  const { permissions } = profile;
  if (typeof permissions === "string") return [await presetFile(permissions, file, context)];
  if (
    !isJsonObject(permissions) ||
    typeof permissions.preset !== "string" ||
    KNOWN_PRESETS.includes(permissions.preset)
  )
    return [{ table: permissions, file, scope: "user" }];
  const { preset, ...own } = permissions;
  return [await presetFile(String(preset), file, context), { table: own, file, scope: "user" }];
}

/** The keys of `[permissions]` are at the top of a preset file. */
async function presetFile(name: string, from: string, { config }: PermissionContext): Promise<PermissionTable> {
  const isPath = /[/\\]|\.toml$/i.test(name);
  const besides = resolve(dirname(from), name.replace(/^~(?=\/)/, homedir()));
  const candidates = isPath ? [besides, join(config, name)] : [join(config, "presets", `${name}.toml`)];
  const path = candidates.find((each) => existsSync(each));
  const layer = path === undefined ? undefined : await readLayer(path);
  if (layer === undefined) {
    throw new UsageError(
      `${from} (permissions): there is no preset "${name}": expected quiet, strict, or the file ${candidates[0]}.`,
    );
  }
  const { schema_version: _version, name: _name, description: _description, ...table } = layer.profile;
  if (!KNOWN_PRESETS.includes(table.preset)) {
    throw new UsageError(`${layer.path}: preset must be quiet or strict here: a preset cannot name another one.`);
  }
  return { table, file: layer.path, scope: "user" };
}

function ofProject(layer: Layer, { refuse }: PermissionContext): PermissionTable {
  const { path: file, profile } = layer;
  const { permissions } = profile;
  if (!isJsonObject(permissions)) {
    refuse(layer, "a project writes its rules under [[permissions.rules]], and names no file");
    return { table: undefined, file, scope: "project" };
  }
  const { rules, edits, preset, ...rest } = permissions as Profile;
  if (edits !== undefined && edits !== "ask") refuse(layer, 'a project may only set edits = "ask"');
  if (preset !== undefined && preset !== "strict") refuse(layer, 'a project may only set preset = "strict"');
  const kept = Array.isArray(rules) ? rules.filter((rule: unknown) => !allows(rule)) : rules;
  const dropped = Array.isArray(rules) && Array.isArray(kept) ? rules.length - kept.length : 0;
  if (dropped > 0)
    refuse(layer, `only you may allow something; ${dropped} of its rules ${dropped === 1 ? "is" : "are"} left out`);
  const table = {
    ...rest,
    ...(kept !== undefined && { rules: kept }),
    ...(edits === "ask" && { edits }),
    ...(preset === "strict" && { preset }),
  };
  return { table, file, scope: "project" };
}

function allows(rule: unknown): boolean {
  return isJsonObject(rule) && rule.decision === "allow";
}
