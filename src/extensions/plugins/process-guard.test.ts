import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { occupant } from "./process-guard.js";

const PLACE = { codes: [{ name: "spin", path: "/home/me/my plugins/spin.mjs" }], own: "/opt/oxbow/dist" };
const stackOf = (...frames: readonly string[]) => ["Error", ...frames.map((frame) => `    at ${frame}`)].join("\n");

describe("the code that occupies the thread", () => {
  verifies(["E4"], "is a plugin's wherever the plugin stands in the stack, with its line", () => {
    const stack = stackOf(
      "<anonymous>:1:29",
      "JSON.stringify (<anonymous>)",
      "log (file:///opt/oxbow/dist/log.js:7:1)",
      "run (file:///home/me/my%20plugins/spin.mjs:4:12)",
      "wait (file:///opt/oxbow/dist/guard.js:9:3)",
    );
    expect(occupant(stack, PLACE)).toBe("The plugin spin (spin.mjs:4:12)");
  });

  verifies(["E4"], "is Oxbow's own if Oxbow is on top, and no plugin pays for it", () => {
    const stack = stackOf(
      "<anonymous>:1:29",
      "spawnSync (node:child_process:1:1)",
      "look (file:///opt/oxbow/dist/look.js:7:1)",
    );
    expect(occupant(stack, PLACE)).toBeUndefined();
  });

  verifies(["E4"], "is a plugin's without a name if the stack names no known file", () => {
    const imported = stackOf("<anonymous>:1:29", "Timeout._onTimeout (file:///home/me/lib/later.mjs:1:50)");
    const promises = stackOf("<anonymous>:1:29", "process.processTicksAndRejections (node:internal/task_queues:95:5)");
    for (const stack of [imported, promises]) expect(occupant(stack, PLACE)).toBe("Code of a plugin (one of spin)");
  });
});
