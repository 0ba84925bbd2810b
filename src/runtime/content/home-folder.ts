import type { Variables } from "../../base/variables.js";

/** Where other tools keep content of the user; undefined if it is not known. */
export function homeFolder(variables: Variables): string | undefined {
  return variables.HOME || variables.USERPROFILE || undefined;
}
