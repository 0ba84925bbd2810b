import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { unless } from "../../../test/support/needs.js";
import { openProcessQuota } from "./process-quota.js";

const isPossible = (() => {
  const quota = openProcessQuota({ processes: 5, name: "try" });
  quota?.close();
  return quota !== undefined;
})();

unless(isPossible ? undefined : "needs control groups that may be made").describe(
  "[P8] the group that bounds processes",
  () => {
    it("goes with the session", () => {
      const quota = openProcessQuota({ processes: 5, name: "one" });
      expect(existsSync(quota?.entry ?? "")).toBe(true);
      quota?.close();
      expect(existsSync(dirname(quota?.entry ?? ""))).toBe(false);
    });

    it("goes with the next session when its own was killed, but not that of one that lives", () => {
      const quota = openProcessQuota({ processes: 5, name: "left" });
      const group = dirname(quota?.entry ?? "");
      const { pid } = spawnSync("true");
      const left = join(dirname(group), basename(group).replace(`-${process.pid}-`, `-${pid}-`));
      mkdirSync(left);
      const elsewhere = left.replace(/-\d+-left$/, "-1-left");
      mkdirSync(elsewhere);
      openProcessQuota({ processes: 5, name: "next" })?.close();
      expect([left, group, elsewhere].map(existsSync)).toEqual([false, true, true]);
      rmdirSync(elsewhere);
      quota?.close();
    });
  },
);
