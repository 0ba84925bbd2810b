/** Policies, facts and rules for the tests of this folder. */
import { posix } from "node:path";
import type { ToolSet } from "../../../engine/ports.js";
import type { JsonObject } from "../../../protocol/json.js";
import { SAFE_MODE_OFF } from "../../safe-mode/safe-mode.js";
import type { PermissionPolicy } from "../decide.js";
import type { DecisionFacts, PathAccess, PathFacts } from "../facts.js";
import { parseRules } from "../parse-rules.js";
import {
  NO_PATH_PERMISSIONS,
  normalPrefix,
  type PathPermissionState,
  parseAccess,
  withEntry,
} from "../path-permissions.js";
import { readCommand } from "../read-command.js";
import type { PermissionRule } from "../rule.js";
import { spelledPath } from "../spelled-path.js";

export const WORKSPACE = "/home/ada/project";
export const HOME = "/home/ada";
const OWN_FOLDERS = ["/home/ada/.config/oxbow", "/home/ada/.local/share/oxbow"];
export const READER = { workspace: WORKSPACE, home: HOME, ownFolders: OWN_FOLDERS };
export const USER_FILE = { file: "config.toml", scope: "user" } as const;

export function policyWith(changes: Partial<PermissionPolicy> = {}): PermissionPolicy {
  return {
    mode: "ask",
    preset: "quiet",
    edits: "contained",
    rules: [],
    workspace: WORKSPACE,
    ownFolders: OWN_FOLDERS,
    paths: NO_PATH_PERMISSIONS,
    safeMode: SAFE_MODE_OFF,
    ...changes,
  };
}

/** Rules that must be free of problems. */
export function rulesOf(...list: readonly JsonObject[]): readonly PermissionRule[] {
  const { rules, problems } = parseRules(list, USER_FILE, { home: HOME });
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return rules;
}

export function pathsOf(entries: Readonly<Record<string, string>>): PathPermissionState {
  return Object.entries(entries).reduce<PathPermissionState>(
    (state, [path, access]) => withEntry(state, { prefix: normalPrefix(path), granted: parseAccess(access) }),
    NO_PATH_PERMISSIONS,
  );
}

const AROUND = { originator: "human", sandboxed: false, planMode: false } as const;

export function bash(command: string, changes: Partial<DecisionFacts> = {}): DecisionFacts {
  return {
    tool: { name: "bash", set: "command", mutating: true, origin: "built-in" },
    args: { command },
    command: readCommand(command, READER),
    paths: [],
    ...AROUND,
    ...changes,
  };
}

export function onPath(
  name: "read" | "ls" | "grep" | "edit" | "write" | "apply_patch",
  path: string,
  changes: Partial<DecisionFacts> & { readonly access?: PathAccess; readonly sensitive?: string } = {},
): DecisionFacts {
  const set: ToolSet = name === "edit" || name === "write" || name === "apply_patch" ? "edit" : "read";
  const { access = set === "edit" ? "write" : "read", sensitive, ...rest } = changes;
  const absolute = posix.resolve(WORKSPACE, path);
  const found: PathFacts = {
    ...spelledPath(absolute, access, WORKSPACE),
    ...(sensitive !== undefined && { sensitive }),
    ...(name === "grep" && { recursive: true }),
  };
  return {
    tool: { name, set, mutating: set === "edit", origin: "built-in" },
    args: { path },
    paths: [found],
    ...AROUND,
    ...rest,
  };
}

export function otherTool(
  name: string,
  changes: Partial<DecisionFacts> & { readonly mutating?: boolean } = {},
): DecisionFacts {
  const { mutating = true, ...rest } = changes;
  return { tool: { name, set: "web", mutating, origin: "extension" }, args: {}, paths: [], ...AROUND, ...rest };
}
