import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Desktop, findOpener, openBrowser } from "./open-browser.js";

let folder: string;
let programs: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "oxbow-browser-"));
  programs = join(folder, "bin");
  mkdirSync(programs);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, at = programs): string {
  const path = join(at, name);
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" > "$0.out.tmp" && mv "$0.out.tmp" "$0.out"\n`);
  chmodSync(path, 0o755);
  return path;
}

const find = (variables: Desktop["variables"], over: Partial<Desktop> = {}) =>
  findOpener({
    platform: "linux",
    workspace: join(folder, "work"),
    exists: () => false,
    ...over,
    variables: { PATH: programs, ...variables },
  });

it("[M13] detects that there is no browser, and says why", () => {
  program("xdg-open");
  const desktop = { DISPLAY: ":0" };
  expect(find(desktop)).toEqual({ program: join(programs, "xdg-open"), args: [] });
  expect(find({ WAYLAND_DISPLAY: "wayland-0" })).toHaveProperty("program");
  expect(find({})).toEqual({ missing: "there is no desktop here" });
  expect(find({ ...desktop, SSH_CONNECTION: "1 2 3 4" })).toEqual({ missing: "this is a remote machine (SSH)" });
  expect(find(desktop, { exists: (path) => path === "/.dockerenv" })).toEqual({ missing: "this is a container" });
  expect(find({ ...desktop, PATH: "/nowhere" })).toEqual({ missing: "xdg-open is not installed" });
  expect(find({ SSH_TTY: "x" }, { platform: "darwin" })).toHaveProperty("missing");
  expect(find({}, { platform: "darwin" })).toEqual({ program: "/usr/bin/open", args: [] });
  expect(find({ SystemRoot: "D:\\Win" }, { platform: "win32" })).toMatchObject({
    program: "D:\\Win\\System32\\rundll32.exe",
  });
});

it("takes the browser that BROWSER names, but none that the workspace supplies", () => {
  const own = program("my-browser");
  expect(find({ BROWSER: "my-browser:other", SSH_TTY: "x" })).toEqual({ program: own, args: [] });
  const work = join(folder, "work");
  mkdirSync(work);
  program("xdg-open", work);
  expect(find({ DISPLAY: ":0", PATH: work })).toEqual({ missing: "xdg-open is not installed" });
});

it("hands the address over as it is", async () => {
  const path = program("opener");
  const url = "https://example.test/?a=1&b=$(touch x);c='";
  openBrowser({ program: path, args: ["first"] }, url, { variables: process.env, workspace: folder });
  const written = () => {
    try {
      return readFileSync(`${path}.out`, "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(written).toBe(`first\n${url}\n`);
  expect(() =>
    openBrowser({ program: join(folder, "missing"), args: [] }, url, { variables: {}, workspace: folder }),
  ).not.toThrow();
});
