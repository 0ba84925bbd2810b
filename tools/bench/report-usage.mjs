// Loaded into the measured process by --import: says at its end what it used.
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(
    process.env.BENCH_USAGE_FILE,
    JSON.stringify({ cpuMs: (userCPUTime + systemCPUTime) / 1000, rssMiB: maxRSS / 1024 }),
  );
});
