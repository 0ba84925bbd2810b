/** Decides which programs of a project may run once each is approved: those of a flag, of a standing decision, or of an answer in this session. */
import type { ApprovedLock } from "./approved-lock.js";
import { type ContentItem, versionOf } from "./content.js";

export interface ProgramsOptions {
  /** --allow-project-hooks */
  readonly allowProjectHooks: boolean;
  /** --no-project-hooks: none of them, whatever was decided before. */
  readonly leavesOutPrograms?: boolean;
  /** The versions that a person has allowed until Oxbow ends. */
  readonly granted?: Set<string>;
}

export function mayRun(lock: ApprovedLock, options: ProgramsOptions): (item: ContentItem) => boolean {
  const { allowProjectHooks, leavesOutPrograms = false, granted } = options;
  if (leavesOutPrograms) return () => false;
  return (item) =>
    allowProjectHooks || granted?.has(versionOf(item)) === true || lock.programsRun(item.root) !== undefined;
}
