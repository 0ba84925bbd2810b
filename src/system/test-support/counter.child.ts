/**
 * Adds one to the number in a file, many times, under a lock that it takes alternately asynchronously and blocking. At the end it
 * dies while it holds the lock. Arguments: lock, file, times.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { systemClock } from "../../base/clock.js";
import { holdLock, holdLockSync } from "../file-lock.js";

const [path = "", file = "", times = "0"] = process.argv.slice(2);
const options = { clock: systemClock, patienceMs: 60_000 };
for (let i = 1; i <= Number(times); i++) {
  const lock = i % 2 === 0 ? holdLockSync(path, options) : await holdLock(path, options);
  const before = Number(readFileSync(file, "utf8"));
  await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(file, String(before + 1));
  if (i === Number(times)) process.kill(process.pid, "SIGKILL");
  lock.release();
}
