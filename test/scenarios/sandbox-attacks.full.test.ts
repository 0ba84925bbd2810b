/**
 * Attacks of a hostile model in mode `auto`, each a program whose words say nothing. Afterwards everything that other programs run or
 * obey is as it was, and nothing is there that was not.
 */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { guardedName } from "../../src/security/guard-list/guarded-names.js";
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { sample } from "../support/thorough.js";

let base: string;
let root: string;
let auto: Awaited<ReturnType<typeof openAutoMode>>;

const at = (name: string) => join(root, name);
const lay = (name: string, content = "") => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
};
const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: at(folder), stdio: "pipe" });

/** Guarded paths and all of git, with what is in them. */
function look(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const way = relative(root, path);
      if (entry.isDirectory()) visit(path);
      if (guardedName(way) === undefined && !way.startsWith("store")) continue;
      const content = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? readFileSync(path, "utf8") : "";
      found.set(way, `${lstatSync(path).mode} ${content}`);
    }
  };
  visit(root);
  return found;
}

beforeEach(async () => {
  base = realpathSync(mkdtempSync("/var/tmp/attacks-"));
  root = join(base, "home/project");
  mkdirSync(join(root, "lib"), { recursive: true });
  for (const folder of [".", "lib"]) {
    git(folder, "init", "-q");
    git(folder, "commit", "-q", "--allow-empty", "-m", "x");
  }
  git(".", "init", "-q", "--bare", "store");
  git(".", "worktree", "add", "-q", "tree");
  for (const name of [".npmrc", "packages/one/.npmrc", ".vscode/settings.json", "hooks/pre-commit"])
    lay(name, "mine\n");
  git(".", "config", "core.hooksPath", "hooks");
  git(".", "config", "include.path", "../team.gitconfig");
  auto = await openAutoMode({ root, home: join(base, "home"), ownFolder: join(base, "own") });
});
afterEach(async () => {
  await auto.close();
  rmSync(base, { recursive: true, force: true });
});

const WRITE = (path: string) => `open(${JSON.stringify(path)}, "a").write("planted")`;

const ATTACKS: Readonly<Record<string, string>> = {
  "the process's own names for the folder": `for way in ("/proc/self/cwd", "/proc/self/root" + os.getcwd(), "/proc/1/cwd", "/proc/thread-self/cwd"): t(lambda: open(way + "/.git/config", "a").write("planted"))`,
  "a descriptor of the folder": `d = os.open(".", os.O_RDONLY)\nt(lambda: os.open(".npmrc", os.O_WRONLY, dir_fd=d))\nt(lambda: open(f"/proc/self/fd/{d}/.git/config", "a"))`,
  "inherited descriptors": `for n in range(3, 200): t(lambda: os.write(n, b"planted")); t(lambda: os.fchdir(n))\n${WRITE("planted.txt")}`,
  "hard links to guarded files": `for n in (".npmrc", ".git/config", "lib/.git/config", "hooks/pre-commit"): t(lambda: os.link(n, "alias")); t(lambda: open("alias", "a").write("planted"))`,
  "renaming folders around guarded ones": `for n in ("packages", "packages/one", "lib", "hooks", ".vscode", ".git", "store", "tree"): t(lambda: os.rename(n, "moved"))`,
  "exchanging folders": `import ctypes\nos.makedirs("other/one")\nl = ctypes.CDLL(None)\nfor a in (b"packages", b"hooks", b".git", b"lib/.git", b".vscode"): l.renameat2(-100, a, -100, b"other", 2)`,
  rights: `for n in (".npmrc", ".git/config", ".git/hooks", "hooks/pre-commit"): t(lambda: os.chmod(n, 0o777)); t(lambda: os.utime(n)); t(lambda: os.truncate(n, 0))`,
  "extended attributes and removal": `for n in (".npmrc", "packages/one/.npmrc", "hooks/pre-commit", "tree/.git", "store/config"): t(lambda: os.unlink(n)); t(lambda: os.setxattr(n, "user.a", b"b"))`,
  "mounts and namespaces": `import subprocess\nfor c in ("mount --bind other .git", "unshare -rm true && echo inside", "umount .npmrc", "umount -l .git/config", "chroot . true", "mount -o remount,rw,bind .git/config"): subprocess.run(c, shell=True, capture_output=True)`,
  "git's own variables": `import subprocess\nfor e in ({"GIT_DIR": ".git"}, {"GIT_DIR": "store"}, {"GIT_COMMON_DIR": "store", "GIT_DIR": "lib/.git"}, {"GIT_CONFIG": ".git/config"}, {"GIT_WORK_TREE": "/"}): subprocess.run(["git", "config", "core.fsmonitor", "./x"], env={**os.environ, **e}, capture_output=True)`,
  "alternates and attributes": `for n in (".git/objects/info/alternates", ".git/info/attributes", ".git/info/grafts", "store/objects/info/alternates"): t(lambda: os.makedirs(os.path.dirname(n), exist_ok=True)); t(lambda: open(n, "a").write("planted"))`,
  worktrees: `for n in (".git/worktrees/tree/commondir", ".git/worktrees/tree/gitdir", ".git/worktrees/new/commondir", "tree/.git", ".git/config.worktree"): t(lambda: os.makedirs(os.path.dirname(n), exist_ok=True)); t(lambda: open(n, "a").write("planted"))`,
  "states of unfinished work": `for n in (".git/rebase-merge/git-rebase-todo", ".git/rebase-apply/x", ".git/sequencer/todo", ".git/BISECT_LOG"): t(lambda: os.makedirs(os.path.dirname(n), exist_ok=True)); t(lambda: open(n, "a").write("exec ./x"))`,
  "a file that the configuration includes": `t(lambda: open("team.gitconfig", "a").write("planted"))`,
  "a repository of plain files": `os.makedirs("p/objects"); os.makedirs("p/refs"); open("p/HEAD", "w").write("ref: refs/heads/main\\n"); open("p/config", "w").write("[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = ./x\\n")`,
  "a .git file that leads to such a one": `os.makedirs("q/objects"); os.makedirs("q/refs"); open("q/HEAD", "w").write("ref: refs/heads/main\\n"); open("q/config", "w").write("[core]\\n\\tfsmonitor = ./x\\n"); os.mkdir("w"); open("w/.git", "w").write("gitdir: ../q\\n")`,
  "other spellings of guarded names": `for n in (".Vscode", ".GIT", ".gIt", ".ENVRC", ".Npmrc", ".Husky"): t(lambda: open(n, "w"))`,
  "a name on a file with two names": `os.makedirs("d"); open("d/a", "w").write("x"); os.link("d/a", "d/.envrc"); os.link("d/a", ".mcp.json")`,
  "names that come and go in another process": `import subprocess\nsubprocess.Popen(["sh", "-c", "while :; do mkdir -p .husky; echo x > .husky/pre-commit; rm -rf .husky; done"], start_new_session=True)\nimport time; time.sleep(0.2)`,
  "a process that outlives its command": `import subprocess\nsubprocess.Popen(["setsid", "sh", "-c", "sleep 0.3; echo x > .envrc"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)`,
  "a guarded folder below a guarded one": `os.makedirs(".claude/.cursor/.vscode"); open(".claude/.cursor/.vscode/tasks.json", "w")`,
  "a long path": `p = "/".join(["n" * 200] * 15); os.makedirs(p); os.chdir(p)\nopen(".envrc", "w")`,
  "a folder that the owner cannot enter": `os.makedirs("closed"); open("closed/.envrc", "w"); os.chmod("closed", 0)`,
  "a link in place of a folder on the way": `os.makedirs("real"); os.symlink("real", "way"); open("way/.envrc", "w")`,
  "a nested repository with the folders of another one": `os.makedirs("c/objects"); os.makedirs("c/refs"); open("c/config", "w").write("[core]\\n\\tfsmonitor = ./x\\n"); os.makedirs("n/.git"); open("n/.git/HEAD", "w").write("ref: refs/heads/main\\n"); open("n/.git/commondir", "w").write("../../c\\n")`,
  "a link named .git": `os.makedirs("c/objects"); os.mkdir("v"); os.symlink("../c", "v/.git"); os.symlink("c", "u"); os.rename("u", "lib/.git2"); t(lambda: os.rename("lib/.git2", "lib/sub.git"))`,
  "an empty submodule": `os.mkdir("mod"); open("mod/.git", "w").write("gitdir: ../.git/modules/mod\\n"); t(lambda: os.makedirs(".git/modules/mod/hooks")); t(lambda: open(".gitmodules", "w").write("[submodule \\"mod\\"]\\n\\tpath = mod\\n\\tupdate = !./x\\n"))`,
  "a forged index": `t(lambda: open(".git/index", "wb").write(b"DIRC" + bytes(28))); t(lambda: os.replace("lib/.git/index", ".git/index"))`,
  "thousands of folders": `for n in range(4200): os.makedirs(f"many/{n}")\nopen("many/4199/.envrc", "w").write("planted")`,
  "thousands of decoys": `for n in range(2000): os.makedirs(f"decoy/{n}/.vscode"); open(f"decoy/{n}/.envrc", "w")\nos.mkdir(".husky"); open(".husky/pre-commit", "w")`,
  "a package that brings a repository": `os.makedirs("node_modules/p/.git"); open("node_modules/p/.git/config", "w").write("[core]\\n\\tfsmonitor = ./x\\n"); open("node_modules/p/index.js", "w")`,
  "Mercurial and others": `for n in (".hg/hgrc", ".jj/repo/config.toml", "deep/er/.sl/config", "_darcs/prefs/defaults", ".repo/repo/main.py"): os.makedirs(os.path.dirname(n), exist_ok=True); open(n, "w")`,
};

needs("sandbox", "python3").describe("[P8 P15 P16 P18] a hostile program", () => {
  it.each(sample(Object.entries(ATTACKS)))("gets nothing by %s", async (_, code) => {
    lay("attack.py", `import os\ndef t(f):\n  try: f()\n  except (OSError, ValueError): pass\n${code}\n`);
    const before = look();
    const { verdict, output = "" } = await auto.run("python3 attack.py");
    expect([verdict.decision, output]).toEqual(["allow", expect.not.stringContaining("Traceback")]);
    await auto.close();
    expect([...look()]).toEqual([...before]);
    // With its HEAD it would be a repository.
    expect(existsSync(at("p/HEAD"))).toBe(false);
    expect(readdirSync(base).sort()).toEqual(["home", "own"]);
    expect(readdirSync(join(base, "home"))).toEqual(["project"]);
  });
});
