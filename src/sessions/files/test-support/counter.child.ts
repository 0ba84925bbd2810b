/** Adds one to the number in a file, many times, under a lock, and dies while holding it at the end. Arguments: lock, file, times. */
import { readFileSync, writeFileSync } from "node:fs";
import { systemClock } from "../../../base/clock.js";
import { withLock } from "../lock.js";

const [lock = "", file = "", times = "0"] = process.argv.slice(2);
for (let i = 1; i <= Number(times); i++) {
  await withLock(lock, { clock: systemClock }, async () => {
    const before = Number(readFileSync(file, "utf8"));
    await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(file, String(before + 1));
    if (i === Number(times)) process.kill(process.pid, "SIGKILL");
  });
}
