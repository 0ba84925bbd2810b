// Loaded into the measured process by --import: says at its end what it used.
import { readFileSync, writeFileSync } from "node:fs";

process.on("exit", () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  // The peak of maxRSS begins with the parent's; this one is the process's own.
  const peakKiB = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
  const usage = { cpuMs: (userCPUTime + systemCPUTime) / 1000, rssMiB: peakKiB / 1024 };
  writeFileSync(process.env.BENCH_USAGE_FILE, JSON.stringify(usage));
});
