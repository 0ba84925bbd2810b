import { FILE_PROGRAMS } from "./files.js";
import { GIT_PROGRAMS } from "./git.js";
import type { ProgramTable } from "./rules.js";
import { SYSTEM_PROGRAMS } from "./system.js";
import { TEXT_PROGRAMS } from "./text.js";

/** Everything that may be read-only, by the name it is called by. */
export const READ_ONLY_PROGRAMS: ProgramTable = {
  ...TEXT_PROGRAMS,
  ...FILE_PROGRAMS,
  ...SYSTEM_PROGRAMS,
  ...GIT_PROGRAMS,
};
