/** The files of the web client, which the build puts beside the program. Undefined where there are none. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export function webFolder(): string | undefined {
  const folder = fileURLToPath(new URL("./web", import.meta.url));
  return existsSync(join(folder, "index.html")) ? folder : undefined;
}
