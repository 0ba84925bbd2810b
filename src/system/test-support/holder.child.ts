/** Takes a lock and keeps it until it is killed. Argument: path. */
import { writeSync } from "node:fs";
import { systemClock } from "../../base/clock.js";
import { withLock } from "../file-lock.js";

await withLock(process.argv[2] ?? "", { clock: systemClock }, () => {
  writeSync(1, "held\n");
  return new Promise<void>((resolve) => setTimeout(resolve, 600_000));
});
