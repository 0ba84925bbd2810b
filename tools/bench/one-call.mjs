// One tool call: as a function, or in a separate process that reports its peak memory in MiB.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** `openToolbox` is the program's own; the answer calls a tool by name and throws unless it succeeds. */
export function openTools(openToolbox, root) {
  const variables = { PATH: process.env.PATH };
  const toolbox = openToolbox({ root, sets: ["read"], variables, outputDirectory: join(root, "..", "outputs") });
  return async (name, args) => {
    const outcome = await toolbox.find(name).run(args, { signal: new AbortController().signal, progress() {} });
    if (outcome.status !== "ok") throw new Error(`${name}: ${outcome.content[0]?.text}`);
    return outcome;
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { module, root, tool, args } = JSON.parse(process.argv[2]);
  const { openToolbox } = await import(module);
  await openTools(openToolbox, root)(tool, args);
  console.log(peakKiB() / 1024);
}

/** On Linux `maxRSS` begins with that of the process that started this one; the kernel's own mark does not. */
function peakKiB() {
  try {
    return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}
