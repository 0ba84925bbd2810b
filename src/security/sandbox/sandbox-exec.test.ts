/** Of the text alone: no test of ours has run it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findLayout } from "./layout.js";
import { sandboxPolicy } from "./policy.js";
import { sandboxExecCommand, sandboxExecProfile } from "./sandbox-exec.js";
import { command, layout, policy } from "./test-support/sample-layout.js";

describe("[P8] the profile for macOS", () => {
  const parts = { program: "/usr/bin/sandbox-exec", policy, layout, temporaryFolder: "/private/tmp/t" };
  const { profile, parameters } = sandboxExecProfile(parts);

  it("denies by default and has matching parentheses", () => {
    expect(profile.startsWith("(version 1)\n(deny default)\n")).toBe(true);
    const outsideStrings = profile.replace(/#?"[^"]*"/g, "");
    expect(outsideStrings.split("(").length).toBe(outsideStrings.split(")").length);
  });

  it("gives paths as parameters, every one of which is used", () => {
    expect(Object.values(parameters)).toEqual(
      expect.arrayContaining(["/private/tmp/t", ...layout.writable, "/home/me/.ssh"]),
    );
    for (const name of Object.keys(parameters)) expect(profile).toContain(`(param "${name}")`);
    const used = [...profile.matchAll(/\(param "([^"]+)"\)/g)].map(([, name = ""]) => name);
    for (const name of used) expect(parameters).toHaveProperty(name);
  });

  it("hides secret files of the workspace, and has caches that can be changed", () => {
    const masked = [{ path: "/home/me/my project/.env", kind: "file" as const }];
    const caches = { cache: "/cache/builds", environment: { npm_config_cache: "/cache/builds/npm" } };
    const own = { ...parts, layout: { ...layout, masked, caches } };
    const made = sandboxExecProfile(own);
    const name = Object.entries(made.parameters).find(([, path]) => path.endsWith("/.env"))?.[0];
    expect(made.profile).toContain(`(deny file-read* file-write* (subpath (param "${name}")))`);
    expect(made.profile.indexOf('(param "CACHE0")')).toBeGreaterThan(made.profile.indexOf(`(param "${name}")`));
    expect(sandboxExecCommand(own, command).env.npm_config_cache).toBe("/cache/builds/npm");
  });

  it("lets later rules take back what earlier ones gave", () => {
    const at = (text: string) => {
      const found = profile.indexOf(text);
      expect(found, text).toBeGreaterThan(-1);
      return found;
    };
    expect(at('(allow file-read* file-write* (subpath (param "WRITABLE0")))')).toBeLessThan(
      at('(deny file-write* (subpath (param "READONLY0")))'),
    );
    expect(at('(deny file-write* (subpath (param "READONLY0")))')).toBeLessThan(
      at('(deny file-read* file-write* (subpath (param "HIDDEN0")))'),
    );
    expect(at('(deny file-read* file-write* (subpath (param "HIDDEN0")))')).toBeLessThan(
      at('(allow file-read* (subpath (param "VISIBLE0")))'),
    );
  });

  it.each([
    ["/home/me/my project/.git/hooks/pre-commit", true],
    ["/home/me/my project/.GIT/Config", true],
    ["/home/me/my project/sub/new/.git/hooks", true],
    ["/home/me/my project/.git/modules/a/b/config", true],
    ["/home/me/my project/.git/commondir", true],
    ["/home/me/my project/.git/objects/ab/cd", false],
    ["/home/me/my project/.git/config.lock", false],
    ["/home/me/my project/src/config", false],
  ])("guards by pattern: %s is %s", (path, guarded) => {
    const source = /\(deny file-write\* \(regex #"([^"]+)"\)\)/.exec(profile)?.[1] ?? "";
    expect(new RegExp(source).test(path)).toBe(guarded);
  });

  it("has no network but to the proxy", () => {
    expect(profile).not.toContain("(remote ip");
    expect(sandboxExecProfile({ ...parts, proxyPort: 4711 }).profile).toContain(
      '(allow network-outbound (remote ip "localhost:4711"))',
    );
  });

  it("is started with its limits, and its environment not on the command line", () => {
    const wrapped = sandboxExecCommand({ ...parts, proxyPort: 4711 }, command);
    expect(wrapped.args[1]).toContain("ulimit -d 1");
    expect(wrapped.args.slice(-4)).toEqual(["/bin/bash", "-c", "--", "make"]);
    expect(wrapped.args.join(" ")).not.toContain("value");
    expect(wrapped.env).toMatchObject({ TMPDIR: "/private/tmp/t", HTTPS_PROXY: "http://127.0.0.1:4711" });
  });

  it("keeps odd paths out of the text, where they could end a rule", () => {
    const odd = `/private/tmp/a "b") (allow default) \\ ; #" [x] $(y) * \n ü`;
    const hidden = [{ path: `${odd}/.ssh`, kind: "folder" as const, passable: false }];
    const { profile: text, parameters: given } = sandboxExecProfile({
      ...parts,
      layout: { ...layout, writable: [odd], hidden, guards: { ...layout.guards, readOnly: [`${odd}/.oxbow`] } },
    });
    expect(text).not.toContain("allow default");
    expect(text).not.toContain('b"');
    expect(Object.values(given)).toEqual(expect.arrayContaining([odd, `${odd}/.ssh`, `${odd}/.oxbow`]));
    const pattern = /\(deny file-write\* \(regex #"([^"]+)"\)\)/.exec(text)?.[1] ?? "";
    expect(pattern).toMatch(/^[\w^/.*()?|[\]$-]+$/);
    expect(new RegExp(pattern).test(`${odd}/sub/.git/hooks/pre-commit`)).toBe(true);
    const { args } = sandboxExecCommand({ ...parts, layout: { ...layout, writable: [odd] } }, command);
    expect(args).toContain(`WRITABLE0=${odd}`);
  });

  it("speaks of real paths also where the workspace is reached by a link, as /tmp and /var are on macOS", () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "mac-")));
    try {
      mkdirSync(join(base, "private/var/ws/.git/hooks"), { recursive: true });
      for (const name of ["HEAD", "config", "objects"]) writeFileSync(join(base, "private/var/ws/.git", name), "");
      mkdirSync(join(base, "private/var/home/.ssh"), { recursive: true });
      symlinkSync("private/var", join(base, "var"));
      const through = sandboxPolicy({ writable: [join(base, "var/ws")], hidden: [join(base, "var/home/.ssh")] });
      const found = findLayout(through, { access: "direct" });
      const { parameters: given } = sandboxExecProfile({ ...parts, policy: through, layout: found });
      const real = ["private/var/ws", "private/var/ws/.git/hooks", "private/var/home/.ssh"].map((name) =>
        join(base, name),
      );
      expect(Object.values(given)).toEqual(expect.arrayContaining(real));
      expect(Object.values(given).filter((path) => path.startsWith(join(base, "var")))).toEqual([]);
    } finally {
      rmSync(base, { recursive: true });
    }
  });

  it("lets no command write to other people's terminals, or ask services that act for it", () => {
    const plainTerminals = profile.split("\n").filter((line) => line.includes("ttys") && line.includes("file-write"));
    expect(plainTerminals).toEqual([expect.stringContaining('(extension "com.apple.sandbox.pty")')]);
    for (const service of ["trustd", "SecurityServer", "launchservicesd", "lsd", "pasteboard", "appleevents"]) {
      expect(profile).not.toContain(service);
    }
    expect(profile).toContain("(deny file-write-setugid)");
  });
});
