/** Files outside every workspace that hold no secrets. Data for `paths.ts`. */
export const HARMLESS_FILES: ReadonlySet<string> = new Set([
  "/dev/null",
  "/dev/stdin",
  "/etc/os-release",
  "/etc/lsb-release",
  "/etc/debian_version",
  "/etc/alpine-release",
  "/proc/cpuinfo",
  "/proc/meminfo",
  "/proc/version",
  "/proc/loadavg",
  "/proc/uptime",
]);
