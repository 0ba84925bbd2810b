import fs from "node:fs";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { afterEach, expect, vi } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { PACKAGE_NAME, requireNative } from "./load-native.js";

const { report } = process as unknown as { report: { excludeNetwork: boolean; getReport(): unknown } };
const { getReport } = report;

/** Loads the library anew and says, for each whole report that it made, whether it asked for connected hosts. */
function loadAnew(): readonly boolean[] {
  const asked: boolean[] = [];
  const watched = () => {
    asked.push(!report.excludeNetwork);
    return getReport.call(report);
  };
  report.getReport = watched;
  const { cache } = createRequire(import.meta.url);
  for (const path of Object.keys(cache)) {
    if (/[\\/](?:libsql|@neon-rs|detect-libc)[\\/]/.test(path)) delete cache[path];
  }
  expect(requireNative(), PACKAGE_NAME).toBeTypeOf("function");
  expect([report.excludeNetwork, report.getReport]).toEqual([false, watched]);
  return asked;
}

afterEach(() => {
  report.getReport = getReport;
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

needs("linux").it("lets the library make no report where the C library is the usual one", () => {
  const { header } = getReport.call(report) as { header: object };
  expect(loadAnew().length > 0).toBe(!("glibcVersionRuntime" in header));
});

needs("linux").it("does not let the library ask for the names of connected hosts", () => {
  const read = fs.readFileSync;
  vi.spyOn(fs, "readFileSync").mockImplementation(((path: string, ...rest: never[]) => {
    if (path === "/proc/self/maps") return "7f00-7f10 r--p 00000000 08:01 1 /lib/ld-musl-x86_64.so.1\n";
    return (read as (...all: unknown[]) => unknown)(path, ...rest);
  }) as typeof read);
  syncBuiltinESMExports();
  const asked = loadAnew();
  expect(asked.length).toBeGreaterThan(0);
  expect(asked).not.toContain(true);
});
