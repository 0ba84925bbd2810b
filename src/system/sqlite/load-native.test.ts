import { createRequire } from "node:module";
import { expect, it, vi } from "vitest";
import { PACKAGE_NAME, requireNative } from "./load-native.js";

it("does not let the library ask for the names of connected hosts", () => {
  const { report } = process as unknown as { report: { excludeNetwork: boolean; getReport(): unknown } };
  const asked: boolean[] = [];
  const { getReport } = report;
  const spy = vi.spyOn(report, "getReport").mockImplementation(() => {
    asked.push(!report.excludeNetwork);
    return getReport.call(report);
  });
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) {
    if (/[\\/](?:libsql|@neon-rs|detect-libc)[\\/]/.test(path)) delete cache[path];
  }
  try {
    expect(requireNative(), PACKAGE_NAME).toBeTypeOf("function");
    expect(asked).not.toContain(true);
    expect(asked.length).toBeGreaterThan(0);
    expect(report.excludeNetwork).toBe(false);
  } finally {
    spy.mockRestore();
  }
});
