/**
 * Files that the parent process left open for Oxbow, and that every program it starts would get: a folder among them would be a
 * way around all mounts. Node closes the lower ones, up to the first gap above 15.
 */
import { readFileSync } from "node:fs";
import { SYSTEM_PATH } from "../../base/system-path.js";
import { findProgram } from "../../system/find-program.js";
import { namesIn } from "../../system/names-in.js";
import type { Withheld } from "../../system/process-launch.js";
import type { DetectOptions } from "./detect.js";
import { SandboxError } from "./policy.js";

const CLOSED_BY_NODE = 15;
const CLOSE_ON_EXEC = 0o2000000;

function inheritedDescriptors(folder = "/proc/self/fdinfo"): readonly number[] {
  return namesIn(folder)
    .map(Number)
    .filter((descriptor) => descriptor > CLOSED_BY_NODE && isHandedOn(`${folder}/${descriptor}`))
    .sort((one, other) => one - other);
}

/** Finds what a command must not get, and the bash that closes it; undefined if there is nothing. */
export function findWithheld({ path, workspace }: Pick<DetectOptions, "path" | "workspace">): Withheld | undefined {
  const descriptors = inheritedDescriptors();
  if (descriptors.length === 0) return undefined;
  const outside = { outside: workspace };
  const bash = findProgram("bash", path, outside) ?? findProgram("bash", SYSTEM_PATH, outside);
  if (bash === undefined) {
    throw new SandboxError(
      "Oxbow was started with open files that only bash can close. Install bash, or start Oxbow without those files.",
    );
  }
  return { descriptors, bash };
}

function isHandedOn(file: string): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(file, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // Closed meanwhile: the list itself was one of them.
    return false;
  }
}
