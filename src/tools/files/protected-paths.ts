/**
 * Files of a workspace that need a question because they hold secrets. This module says which and why; the permission gate decides
 * whether to ask. `path-guard.ts` handles files that other programs run or obey.
 */
import { sensitiveReason } from "../../base/sensitive-path.js";
import type { Access } from "./path-resolver.js";

/** The reason to ask before this access, or undefined. `path` is relative to the workspace, with forward slashes. */
export function protection(path: string, _access: Access): string | undefined {
  return sensitiveReason(path);
}
