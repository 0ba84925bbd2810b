/** Makes the engine that decides about the calls of a run, from settings, files and facts. */

import { homedir } from "node:os";
import type { Variables } from "../../base/variables.js";
import type { LoadedPlugin } from "../../extensions/plugins/plugins.js";
import { pluginRules } from "../../extensions/plugins/rules.js";
import { readLayer } from "../../feature/layer.js";
import { loadCommandReader } from "../../security/permissions/command-reader.js";
import type { PermissionPolicy } from "../../security/permissions/decide.js";
import { diskLinks } from "../../security/permissions/disk-links.js";
import { diskTrees } from "../../security/permissions/disk-trees.js";
import { PermissionEngine } from "../../security/permissions/engine.js";
import type { Decision } from "../../security/permissions/facts.js";
import { loadPermissions } from "../../security/permissions/load-permissions.js";
import type { PermissionMode } from "../../security/permissions/modes.js";
import { type PathPermissionState, pathPermissionFile } from "../../security/permissions/path-permissions.js";
import { PlanMode } from "../../security/permissions/plan-mode.js";
import { type SandboxRestrictions, sandboxRestrictions } from "../../security/permissions/sandbox-restrictions.js";
import type { StateFile } from "../../security/permissions/state-file.js";
import { trackedFiles, trackedSecrets } from "../../security/permissions/tracked-files.js";
import { workspaceRules, workspaceStateFile } from "../../security/permissions/workspace-state.js";
import { type SafeModeState, safeModeFile } from "../../security/safe-mode/safe-mode.js";
import { writableFolders } from "../../security/sandbox/extra-folders.js";
import { QUIET_GIT_ENVIRONMENT } from "../../security/shell/programs/quiet-git.js";
import { isQuietRepository as quietRepository } from "../../security/shell/quiet-repository.js";
import { noteWorkspace } from "../../system/project-folders.js";
import { childEnvironment } from "../../tools/child-environment.js";
import { protection } from "../../tools/files/protected-paths.js";
import { parsePatch } from "../../tools/patch/parse.js";
import type { Workspace } from "../../tools/workspace.js";
import type { LoadedSettings } from "../settings/settings.js";
import type { RunGuard } from "./guard.js";
import { aliasedTool, builtInSet, spelledTool } from "./own-tools.js";

export interface PermissionPlace {
  readonly loaded: LoadedSettings;
  readonly variables: Variables;
  readonly root: string;
  readonly ownFolders: readonly string[];
  readonly guard: RunGuard;
  readonly workspace: () => Promise<Workspace>;
  /** The folder of this session's long outputs, which the model may read. */
  readonly outputDirectory?: string;
  /** It works as in plan mode. */
  readonly onlyReads?: boolean;
  /** Plugins may add rules. */
  readonly plugins?: readonly LoadedPlugin[] | undefined;
}

/** Describes what may change from one decision to the next. */
export interface LiveFacts {
  mode(): PermissionMode;
  sandboxed(): boolean;
  contained(): boolean;
}

export interface PermissionParts {
  readonly engine: PermissionEngine;
  readonly paths: StateFile<PathPermissionState>;
  readonly safeMode: StateFile<SafeModeState>;
  /** The limits of path permissions for commands. */
  restrictions(): SandboxRestrictions;
  /** Rules that the user has just written to a settings file: they hold from the next decision on. */
  addRules(section: unknown, file: string): Promise<void>;
}

interface OtherRuns {
  /** The earlier run, whose plan mode and session rules also apply here. */
  readonly before: PermissionParts | undefined;
  /** The event that this run goes back to: what the user allowed later does not apply. */
  readonly back?: { readonly until: number; readonly keepsIds: boolean } | undefined;
  /** The parent session of a subagent. */
  readonly outer: PermissionParts | undefined;
}

function earlierEngine({ before, back }: OtherRuns): Pick<PermissionEngine, "session" | "plan"> | undefined {
  if (before === undefined) return undefined;
  const rules = back === undefined ? before.engine.session : before.engine.session.until(back.until);
  // Events of another session have other ids: here the rules are as old as the session.
  if (back?.keepsIds !== true) rules.settle();
  return { session: rules, plan: back === undefined ? before.engine.plan : new PlanMode() };
}

/** The path permissions and the safe mode of a workspace. */
function workspaceFiles(config: string, root: string): Pick<PermissionParts, "paths" | "safeMode"> {
  const paths = workspaceStateFile(config, root, "path-permissions.json");
  const safeMode = workspaceStateFile(config, root, "safe-mode.json");
  return {
    paths: pathPermissionFile(paths.path, paths.options),
    safeMode: safeModeFile(safeMode.path, safeMode.options),
  };
}

function lateCommandReader({ variables, root, ownFolders, outputDirectory }: PermissionPlace, home: string) {
  const environment = { ...childEnvironment(variables), ...QUIET_GIT_ENVIRONMENT };
  let reader: ReturnType<typeof loadCommandReader> | undefined;
  return () => {
    reader ??= loadCommandReader({
      workspace: root,
      ownFolders,
      outputs: outputDirectory?.replaceAll("\\", "/"),
      home,
      isQuietRepository: () => quietRepository(root, { environment }),
      links: diskLinks,
      trees: diskTrees,
      trackedSecrets: trackedSecrets(root),
      trackedFiles: trackedFiles(root),
    });
    return reader;
  };
}

/**
 * A rule may name a tool as other harnesses do. Only what asks or denies counts for an alias: a tool of an extension may have that name,
 * and what allows it must not allow more.
 */
function meantTools(name: string, decision: Decision): readonly string[] {
  const alias = decision === "allow" ? undefined : aliasedTool(name);
  return [spelledTool(name)?.name ?? name, ...(alias === undefined ? [] : [alias.name])];
}

export async function openPermissions(place: PermissionPlace & OtherRuns, live: LiveFacts): Promise<PermissionParts> {
  const { loaded, variables, root, ownFolders, guard, outputDirectory, workspace, outer, plugins } = place;
  const { settings, roots } = loaded;
  const home = variables.HOME || homedir();
  const { paths, safeMode } = outer ?? workspaceFiles(roots.config, root);
  await Promise.all([paths.load(), safeMode.load()]);
  const commandReader = lateCommandReader(place, home);
  const own = await readLayer(workspaceRules(roots.config, root));
  const ofWorkspace = own && { table: own.profile.permissions, file: own.path, scope: "user" as const };
  const tables = [...(settings.permissions.value ?? []), ...(ofWorkspace ? [ofWorkspace] : [])];
  const how = { home, commandReader, meantTools };
  const parsed = await loadPermissions(tables, how);
  // An invalid rule may be the one that denies, so nothing is decided without it.
  const [problem] = parsed.problems;
  if (problem !== undefined) throw new Error(`Oxbow cannot use the permission rules: ${problem}`);
  const ofPlugins = await pluginRules(plugins, (table) => loadPermissions([table], how));
  let { rules } = parsed;
  const addRules = async (section: unknown, file: string) => {
    const added = await loadPermissions([{ table: section, file, scope: "user" }], how);
    const before = rules.filter(({ source }) => source.file === file).length;
    rules = [...rules, ...added.rules.map((rule) => ({ ...rule, number: before + rule.number }))];
  };
  // A person may add one while the session runs.
  const writable = () => writableFolders(loaded, variables);
  for (const folder of writable()) noteWorkspace(folder);
  const slashes = (path: string) => path.replaceAll("\\", "/");
  const before = outer?.engine ?? earlierEngine(place);
  const engine = new PermissionEngine({
    ...(before !== undefined && { before }),
    policy: (): PermissionPolicy => ({
      mode: live.mode(),
      preset: settings.strict_permissions.value ? "strict" : (parsed.preset ?? "quiet"),
      edits: parsed.edits ?? "contained",
      rules: [...rules, ...ofPlugins],
      workspace: slashes(root),
      writable: writable().map(slashes),
      ownFolders: ownFolders.map(slashes),
      ...(outputDirectory !== undefined && { readable: [slashes(outputDirectory)] }),
      paths: paths.current,
      safeMode: safeMode.current,
    }),
    ...(place.onlyReads && { onlyReads: true }),
    isSubagent: outer !== undefined,
    sandboxed: live.sandboxed,
    contained: live.contained,
    ports: {
      workspace: slashes(root),
      resolve: async (path, access) => (await workspace()).resolve(path, access),
      patchPaths: (patch) => patchPaths(patch, parsePatch),
      commandReader,
      protection,
      guarded: (path) => guard.reasonBehindLinks(path),
      isOwn: (path) => guard.isOwn(path),
      isBuiltIn: ({ name }) => builtInSet(name) !== undefined,
    },
  });
  return { engine, paths, safeMode, restrictions: () => sandboxRestrictions(paths.current, root), addRules };
}

/** The paths that a patch changes, for the decision about it. */
type ParsePatch = typeof import("../../tools/patch/parse.js").parsePatch;

/** An invalid patch changes nothing: the tool reports the problem. */
function patchPaths(patch: string, parsePatch: ParsePatch) {
  try {
    return parsePatch(patch).flatMap((change) => {
      const access = change.kind === "delete" ? ("delete" as const) : ("write" as const);
      const moved =
        change.kind === "update" && change.moveTo !== undefined
          ? [{ path: change.moveTo, access: "write" as const }]
          : [];
      return [{ path: change.path, access }, ...moved];
    });
  } catch {
    return [];
  }
}
