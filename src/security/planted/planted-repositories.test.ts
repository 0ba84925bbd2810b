/** Repositories that a command could leave behind, made by the real git. Before each look, the person's own git does run them. */

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../test/support/waiting.js";
import { verifies } from "../../../test/verifies.js";
import { processMark } from "../../system/process-identity.js";
import { CommandSpans } from "./command-spans.js";
import { PlantedRepositories } from "./planted-repositories.js";

let base: string;
let root: string;
let marker: string;
let messages: string[];

const environment = () => ({ PATH: process.env.PATH ?? "", HOME: base, GIT_CONFIG_NOSYSTEM: "1" });
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@localhost", ...args], {
    cwd,
    env: environment(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
/** Whether the person's own git starts a planted program. */
function runs(cwd: string, ...args: string[]): boolean {
  rmSync(marker, { force: true });
  spawnSync("git", args, { cwd, env: environment() });
  const started = existsSync(marker);
  rmSync(marker, { force: true });
  return started;
}
function write(path: string, content: string, mode = 0o644): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}
const program = (path: string) => write(path, `#!/bin/sh\n: > "${marker}"\n`, 0o755);
/** A repository with a commit whose monitor is a planted program. */
function plant(folder: string): void {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  git(folder, "commit", "-q", "--allow-empty", "-m", "x");
  git(folder, "config", "user.name", "Ann");
  git(folder, "config", "core.fsmonitor", program(join(root, "program")));
}
const watch = () =>
  new PlantedRepositories({
    ...{ root, folder: join(base, "state"), environment: environment(), spans: new CommandSpans(Date.now) },
    notify: (message) => messages.push(message),
  });
async function begun(): Promise<PlantedRepositories> {
  const planted = watch();
  // What was made before must be older than a tick of the file system's clock.
  const last = Math.max(...[root, join(root, ".git"), base].map((path) => statSync(path).ctimeMs));
  await until(() => Date.now() - last > 120);
  await planted.begin();
  return planted;
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-planted-")));
  [root, marker, messages] = [join(base, "workspace"), join(base, "MARKER"), []];
  mkdirSync(root);
  git(root, "init", "-q", "-b", "main");
});
afterEach(() => rmSync(base, { recursive: true }));

describe("a repository that a command leaves behind", () => {
  verifies(
    ["P8"],
    "does not run its program with the user's git status, and the user gets the name of the file",
    async () => {
      const planted = await begun();
      plant(join(root, "lib"));
      git(root, "-c", "advice.addEmbeddedRepo=false", "add", "lib");
      expect(runs(root, "status")).toBe(true);
      await planted.look();
      expect(runs(root, "status")).toBe(false);
      expect(messages.join()).toContain(`${join(root, "lib/.git/config")} sets core.fsmonitor`);
      expect(messages.join()).toContain("enters this repository by itself");
      expect(readFileSync(join(root, "lib/.git/config.set-aside-by-oxbow"), "utf8")).toContain("fsmonitor");
      expect(git(join(root, "lib"), "config", "user.name")).toBe("Ann\n");
      await planted.look();
      expect(messages).toHaveLength(1);
    },
  );

  it.each(["a/b/c/d/e/f/g/h/lib", "node_modules/x/lib", ".hidden/lib"])(
    "is found as %s where it is in the index, also in a split one",
    async (path) => {
      const planted = await begun();
      plant(join(root, path));
      git(root, "-c", "advice.addEmbeddedRepo=false", "add", "-f", path);
      git(root, "update-index", "--split-index");
      expect(runs(root, "status")).toBe(true);
      await planted.look();
      expect(runs(root, "status")).toBe(false);
      expect(messages.join()).toContain(join(root, path, ".git/config"));
    },
  );

  it.each(["node_modules/x", "node_modules/@y/x", "a/node_modules/x/deep/lib", "node_modules/x/node_modules/z"])(
    "is found as %s where no index has it, and other files of packages stay",
    async (path) => {
      write(join(root, "node_modules/old/index.js"), "");
      const planted = await begun();
      plant(join(root, path));
      write(join(root, "node_modules/new/.vscode/tasks.json"), "{}");
      expect(runs(join(root, path), "status")).toBe(true);
      await planted.look();
      expect(runs(join(root, path), "status")).toBe(false);
      expect(messages.join()).toContain(join(root, path, ".git/config"));
      expect(existsSync(join(root, "node_modules/new/.vscode/tasks.json"))).toBe(true);
    },
  );

  const lib = () => join(root, "lib");
  const ways: readonly (readonly [string, string, () => void])[] = [
    ["a hook", "lib/.git/hooks/post-index-change", () => void program(join(lib(), ".git/hooks/post-index-change"))],
    [
      "a folder of hooks that is a link",
      "lib/.git/hooks",
      () => {
        rmSync(join(lib(), ".git/hooks"), { recursive: true });
        program(join(root, "hooks/post-index-change"));
        symlinkSync("../../hooks", join(lib(), ".git/hooks"));
      },
    ],
    [
      "an included file",
      "lib/.git/config",
      () => {
        write(join(root, "more"), `[core]\n\tfsmonitor = ${program(join(root, "program"))}\n`);
        git(lib(), "config", "include.path", join(root, "more"));
      },
    ],
    [
      "another common folder",
      "lib/.git/commondir",
      () => {
        git(root, "init", "-q", "--bare", "other");
        write(join(root, "other/config"), `[core]\n\tfsmonitor = ${program(join(root, "program"))}\n`);
        write(join(lib(), ".git/commondir"), "../../other\n");
      },
    ],
    [
      "a configuration that is a link",
      "lib/.git/config",
      () => {
        write(join(root, "more"), `[core]\n\tfsmonitor = ${program(join(root, "program"))}\n`);
        rmSync(join(lib(), ".git/config"));
        symlinkSync("../../more", join(lib(), ".git/config"));
      },
    ],
    [
      "a configuration in an unusual form",
      "lib/.git/config",
      () => void write(join(lib(), ".git/config"), `[core] fsmonitor = ${program(join(root, "program"))}\n`),
    ],
    [
      "a .git file that leads to a folder beside it",
      "elsewhere/config",
      () => {
        git(lib(), "config", "core.fsmonitor", program(join(root, "program")));
        renameSync(join(lib(), ".git"), join(root, "elsewhere"));
        write(join(lib(), ".git"), "gitdir: ../elsewhere\n");
      },
    ],
    [
      "a .git file with a line break and a blank in its path",
      "else␊where /config",
      () => {
        git(lib(), "config", "core.fsmonitor", program(join(root, "program")));
        renameSync(join(lib(), ".git"), join(root, "else\nwhere "));
        write(join(lib(), ".git"), "gitdir: ../else\nwhere \n");
      },
    ],
  ];

  it.each(ways)("is harmless afterwards when it has %s", async (_, file, change) => {
    const planted = await begun();
    git(root, "init", "-q", "lib");
    write(join(lib(), "a"), "one\n");
    git(lib(), "add", ".");
    change();
    const look = () => {
      writeFileSync(join(lib(), "a"), "two\n");
      return runs(lib(), "add", "a");
    };
    expect(look()).toBe(true);
    await planted.look();
    expect(look()).toBe(false);
    expect(messages.join()).toContain(`${join(root, file)} `);
  });

  it("is reported if it leads outside, or was moved there", async () => {
    const shipped = join(root, "shipped");
    plant(shipped);
    renameSync(join(shipped, ".git"), join(shipped, "dotgit"));
    const planted = await begun();
    renameSync(join(shipped, "dotgit"), join(shipped, ".git"));
    write(join(root, "other/.git"), `gitdir: ${base}\n`);
    await planted.look();
    expect(messages.join()).toContain(join(shipped, ".git/config"));
    expect(messages.join()).toContain(`${join(root, "other/.git")} leads git to ${base}`);
  });

  it("is reported if an index cannot be understood", async () => {
    const planted = await begun();
    write(join(root, "hidden"), "DIRC");
    symlinkSync("../hidden", join(root, ".git/index"));
    await planted.look();
    expect(messages.join()).toContain(join(root, ".git/index"));
  });

  it("is dealt with again when it is planted again", async () => {
    const planted = await begun();
    for (const round of [1, 2]) {
      plant(join(root, "lib"));
      await Promise.all([planted.look(), planted.look()]);
      expect([round, messages.length, runs(join(root, "lib"), "status")]).toEqual([round, round, false]);
    }
  });

  it("is found by the next run when this one was killed", async () => {
    const gone = spawnSync("true").pid;
    const note = `planted-${processMark().replace(/^\d+/, String(gone))}-1.json`;
    write(join(base, "state", note), JSON.stringify({ root, since: Date.now() - 1 }));
    plant(join(root, "lib"));
    const planted = await begun();
    await planted.look();
    expect(messages.join()).toContain(join(root, "lib/.git/config"));
    await planted.close();
    messages = [];
    const next = await begun();
    await next.look();
    expect(messages).toEqual([]);
  });

  it("cannot write to the terminal by its name", async () => {
    const planted = await begun();
    plant(join(root, "l\u001b[2Jib\nall is well"));
    await planted.look();
    expect(messages.join()).not.toMatch(/\u001b|\nall/);
  });

  it("changes nothing outside when its folder is exchanged for a link", async () => {
    const planted = await begun();
    plant(join(base, "own"));
    mkdirSync(join(root, "lib"));
    symlinkSync(join(base, "own/.git"), join(root, "lib/.git"));
    await planted.look();
    expect(existsSync(join(base, "own/.git/config.set-aside-by-oxbow"))).toBe(false);
    expect(messages.join()).toContain(join(root, "lib/.git"));
  });
});

describe("what stays unchanged", () => {
  it("ordinary repositories: made, cloned, bare, with submodules and worktrees", async () => {
    const planted = await begun();
    git(root, "init", "-q", "one");
    write(join(root, "one/a"), "x\n");
    git(join(root, "one"), "add", ".");
    git(join(root, "one"), "commit", "-qm", "x");
    git(root, "clone", "-q", "one", "two");
    git(root, "clone", "-q", "--bare", "one", "three.git");
    git(join(root, "two"), "-c", "protocol.file.allow=always", "submodule", "add", "-q", join(root, "one"), "sub");
    git(join(root, "two"), "worktree", "add", "-q", "../tree", "-b", "topic");
    git(join(root, "two"), "config", "user.email", "ann@localhost");
    write(join(root, "plain/config"), "[core]\n\tfsmonitor = x\n");
    await planted.look();
    expect(messages).toEqual([]);
  });

  it("hooks that the person has git put into every repository", async () => {
    write(join(base, ".gitconfig"), "[init]\n\ttemplateDir = ~/templates\n");
    program(join(base, "templates/hooks/pre-commit"));
    const planted = await begun();
    git(root, "init", "-q", "one");
    expect(existsSync(join(root, "one/.git/hooks/pre-commit"))).toBe(true);
    await planted.look();
    expect(messages).toEqual([]);
    write(join(root, "one/.git/hooks/pre-commit"), "#!/bin/sh\n", 0o755);
    await planted.look();
    expect(messages.join()).toContain(join(root, "one/.git/hooks/pre-commit"));
  });

  it("files from before the first command, and the repository of the workspace", async () => {
    plant(join(root, "lib"));
    program(join(root, ".git/hooks/pre-commit"));
    const planted = await begun();
    git(root, "config", "alias.x", "!x");
    git(join(root, "lib"), "commit", "-q", "--allow-empty", "-m", "y");
    await planted.look();
    expect(messages).toEqual([]);
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "lib");
    await planted.look();
    expect(messages.join()).toContain(join(root, "lib/.git/config"));
    program(join(root, "lib/.git/hooks/pre-commit"));
    await planted.look();
    expect(messages.join()).toContain(join(root, "lib/.git/hooks/pre-commit"));
    expect(existsSync(join(root, "lib/.git/hooks/pre-commit"))).toBe(true);
    expect(existsSync(join(root, "lib/.git/config.set-aside-by-oxbow"))).toBe(false);
  });
});
