/**
 * Files inside a workspace that deserve a question because they hold secrets. This says which and why; whether to ask is the
 * permission gate's business. Files that other programs run or obey are the business of `path-guard.ts`.
 */
import { sensitiveReason } from "../../base/sensitive-path.js";
import type { Access } from "./path-resolver.js";

/** The reason to ask before this access, or undefined. `path` is relative to the workspace, with forward slashes. */
export function protection(path: string, _access: Access): string | undefined {
  return sensitiveReason(path);
}
