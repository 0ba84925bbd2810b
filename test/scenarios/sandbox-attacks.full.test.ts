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
  realpathSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { guardedName } from "../../src/security/guard-list/guarded-names.js";
import { fsPath, linkTarget, namesIn } from "../../src/system/path-bytes.js";
import { isWithin } from "../../src/system/within.js";
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

/** Everything below the workspace, also with names that are not UTF-8. */
function* entries(folder = root): Generator<{ readonly path: string; readonly way: string; readonly found: Stats }> {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const found = lstatSync(fsPath(path));
    yield { path, way: relative(root, path), found };
    if (found.isDirectory()) yield* entries(path);
  }
}

/** Guarded paths and all of git, with what is in them. */
function look(): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  for (const { path, way, found } of entries()) {
    if (guardedName(way) === undefined && !way.startsWith("store")) continue;
    const content = found.isSymbolicLink()
      ? linkTarget(path)
      : found.isFile()
        ? readFileSync(fsPath(path), "utf8")
        : "";
    all.set(way, `${found.mode} ${content}`);
  }
  return all;
}

/** Tells what no command may leave anywhere: entries that are no files, rights of an owner, links that lead out. */
function odd(): readonly string[] {
  return [...entries()].flatMap(({ path, way, found }) => {
    const isSpecial = !(found.isFile() || found.isDirectory() || found.isSymbolicLink());
    const leads = found.isSymbolicLink() ? resolve(dirname(path), linkTarget(path)) : path;
    const isOwners = found.isFile() && (found.mode & 0o6000) !== 0;
    return isSpecial || isOwners || !isWithin(leads, root) ? [way] : [];
  });
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
  "the program of a nested repository": `for n in ("lib/.git/hooks/post-index-change", "tree/.git/hooks/pre-commit"):\n  t(lambda: open(n, "w").write("#!/bin/sh\\n")); t(lambda: os.chmod(n, 0o755))`,
  "a folder of hooks that is a link": `os.mkdir("evil"); open("evil/pre-commit", "w").write("planted")\nfor n in (".git/hooks", "lib/.git/hooks"): t(lambda: os.rename(n, n + "2")); t(lambda: os.symlink(os.path.abspath("evil"), n))`,
  "a configuration that is a link": `open("evil", "w").write("[core]\\n\\tfsmonitor = ./x\\n")\nfor n in ("lib/.git/config", ".git/config", "lib/.git/config.worktree"): t(lambda: os.unlink(n)); t(lambda: os.symlink(os.path.abspath("evil"), n))`,
  "a configuration in an unusual form": `for w in ("[core]fsmonitor=./x", "[CORE]\\n\\tFsMonitor = \\"./x\\"", "[core \\"\\"]\\nfsmonitor=\\\\\\n./x"): t(lambda: open("lib/.git/config", "w").write(w))`,
  "a file that a nested configuration includes": `t(lambda: open("lib/.git/config", "a").write("[include]\\n\\tpath = ../../inc\\n")); open("inc", "w").write("[core]\\n\\tfsmonitor = ./x\\n")`,
  "a .git file with a line break and a blank in its path": `os.makedirs("el\\nse where/objects"); os.makedirs("el\\nse where/refs"); open("el\\nse where/config", "w").write("[core]\\n\\tfsmonitor = ./x\\n"); os.mkdir("w"); open("w/.git", "w").write("gitdir: ../el\\nse where \\n")`,
  "a repository that was made in /tmp and is moved": `import shutil, subprocess\nsubprocess.run(["git", "init", "-q", "/tmp/r"]); subprocess.run(["git", "-C", "/tmp/r", "config", "core.fsmonitor", "./x"])\nfor n in ("moved", "packages/moved", "node_modules/moved"): os.makedirs(os.path.dirname(n) or ".", exist_ok=True); t(lambda: shutil.copytree("/tmp/r", n))`,
  "copies of a nested repository": `import shutil\nfor n in ("a/b/c/d/e/f/g/h/lib", ".hidden/lib", "node_modules/@y/x"): t(lambda: shutil.copytree("lib", n))`,
  "a nested repository that an index names": `import subprocess\nos.makedirs("n"); subprocess.run(["git", "init", "-q", "n"]); subprocess.run(["git", "add", "n"], capture_output=True); subprocess.run(["git", "update-index", "--add", "--cacheinfo", "160000," + "1" * 40 + ",n"], capture_output=True); subprocess.run(["git", "update-index", "--split-index"], capture_output=True)`,
  "Mercurial and others": `for n in (".hg/hgrc", ".jj/repo/config.toml", "deep/er/.sl/config", "_darcs/prefs/defaults", ".repo/repo/main.py"): os.makedirs(os.path.dirname(n), exist_ok=True); open(n, "w")`,
};

/** Attempts against the layers themselves, the processes that hold them, and what is applied afterwards. */
const AGAINST_LAYERS: Readonly<Record<string, string>> = {
  "pipes, sockets and devices": `import socket, stat\nfor n in ("pipe", ".npmrc", "lib/x"): t(lambda: os.unlink(n)); t(lambda: os.mkfifo(n))\nt(lambda: socket.socket(socket.AF_UNIX).bind("sock"))\nfor k in (stat.S_IFBLK, stat.S_IFCHR): t(lambda: os.mknod("device%d" % k, k | 0o666, os.makedev(8, 0)))`,
  "set-user-ID bits": `for n in ("su", "attack.py", ".npmrc"): t(lambda: open(n, "a").close()); t(lambda: os.chmod(n, 0o6755))`,
  "whiteouts that it makes itself": `import stat\nfor n in (".npmrc", ".vscode", "hooks/pre-commit", ".git", "packages/one/.npmrc"): t(lambda: os.unlink(n)); t(lambda: os.rmdir(n)); t(lambda: os.mknod(n, stat.S_IFCHR, 0))`,
  "attributes of overlays": `for n in (".", "lib", ".vscode", ".git", "packages/one", ".npmrc", "attack.py"):\n  for k in ("opaque", "whiteout", "redirect", "metacopy", "origin", "upper", "xwhiteouts", "overlay.opaque", "overlay.whiteout"):\n    for s in ("user", "trusted"):\n      for v in (b"y", b"x", b"/etc", b""): t(lambda: os.setxattr(n, f"{s}.overlay.{k}", v))`,
  "a redirect to a guarded folder": `os.mkdir("other"); t(lambda: os.setxattr("other", "user.overlay.redirect", b"/.git")); t(lambda: open("other/config", "a").write("planted"))`,
  "an index of folders that are gone": `import shutil\nfor n in ("packages", "hooks"): t(lambda: shutil.rmtree(n)); t(lambda: os.makedirs(n + "/one"))\nt(lambda: open("packages/one/.npmrc", "w").write("planted")); t(lambda: open("hooks/pre-commit", "w").write("planted"))`,
  "a race of renames": `import subprocess\nfor n in (".vscode", "hooks", "packages", "lib"): subprocess.Popen(["sh", "-c", f"while :; do mv {n} r{n[-3:]}; mv r{n[-3:]} {n}; done 2>/dev/null"], start_new_session=True)\nimport time; time.sleep(0.3)\nfor n in range(200): t(lambda: open(".vscode/tasks.json", "w").close())`,
  "a race of links and folders": `import subprocess\nsubprocess.Popen(["sh", "-c", "while :; do ln -sfn .git way; rm -f way; mkdir way; rmdir way; done 2>/dev/null"], start_new_session=True)\nfor n in range(3000): t(lambda: open("way/config", "a").write("planted"))`,
  "other spellings by invisible characters": `for n in (".git\\u200d", ".g\\u206ait", "\\ufeff.git", ".GI\\u200cT", ".git.", ".git ", "git~1", "GIT~1", ".git::$INDEX_ALLOCATION"): os.makedirs("s/" + n); open("s/" + n + "/config", "w").write("planted")`,
  "names in other normal forms": `for n in (".envrc\\u0301", ".\\uff47it", ".\\u212aube", ".env\\u017frc"): t(lambda: open(n, "w"))\nfor n in (".ENVRC", ".Env\\u200crc", ".EnvRC"): t(lambda: open(n, "w").write("planted"))`,
  "names that are not UTF-8": `for n in (b"\\xff", b"\\xc3\\x28"): os.makedirs(n + b"/.git/hooks"); open(n + b"/.git/config", "w").write("planted"); open(n + b"/.envrc", "w")`,
  "names as long as they may be": `n = "n" * 255\nos.makedirs(n + "/" + n); open(n + "/" + n + "/.envrc", "w"); open(".envrc" + "x" * 249, "w")`,
  "a path that no system call takes": `for n in range(30): os.mkdir("d" * 200); os.chdir("d" * 200)\nos.mkdir(".git"); open(".git/config", "w"); open(".envrc", "w")`,
  "a very deep tree": `for n in range(260): os.mkdir("d"); os.chdir("d")\nopen(".envrc", "w")`,
  "a chain of links": `for n in range(39): os.symlink(f"l{n + 1}", f"l{n}")\nos.symlink("/etc", "l39"); os.symlink(".git", "k1"); os.symlink("k1", "k0"); t(lambda: open("k0/config", "a").write("planted"))`,
  "links through what does not exist": `os.symlink("missing/../../../..", "y"); os.symlink("lib/../../../x", "z"); os.symlink("//etc", "w"); os.symlink("./././../..", "v"); os.symlink("/proc/self/cwd/..", "u")`,
  "links of the process": `for n in ("cwd", "root", "exe", "fd/0", "task/self", "ns/mnt"): t(lambda: os.symlink("/proc/self/" + n, n.replace("/", "-")))\nfor n in range(40): os.symlink(f"/dev/fd/{n}", f"fd{n}")\nt(lambda: open("cwd/.git/config", "a").write("planted"))`,
  "a link in place of the folder of packages": `os.symlink(".git", "node_modules"); os.symlink("../..", "lib/node_modules"); t(lambda: open("node_modules/config", "a").write("planted"))`,
  "a repository of plain files among packages": `os.makedirs("node_modules/p/objects"); os.makedirs("node_modules/p/refs"); open("node_modules/p/config", "w").write("[core]\\n\\tfsmonitor = ./x\\n"); open("node_modules/p/HEAD", "w").write("ref: refs/heads/main\\n")`,
  "ignore rules that it writes first": `open(".gitignore", "w").write("*\\n.*\\n"); os.makedirs(".idea"); open(".idea/workspace.xml", "w"); os.makedirs("dist/a/.vscode"); open("dist/a/.vscode/tasks.json", "w"); os.makedirs("dist/.git"); open("dist/.git/config", "w")`,
  "a folder in place of a file, and the reverse": `import shutil\nt(lambda: os.unlink(".npmrc")); t(lambda: os.makedirs(".npmrc/x")); t(lambda: shutil.rmtree(".vscode")); t(lambda: open(".vscode", "w")); t(lambda: os.rename("attack.py", "hooks/pre-commit"))`,
  "a nested repository that becomes a link": `import shutil\nt(lambda: os.rename("lib", "lib2")); t(lambda: shutil.rmtree("lib", ignore_errors=True)); t(lambda: os.symlink(".", "lib")); t(lambda: os.symlink("..", "tree2"))`,
  "the same size and times": `for n in (".npmrc", "hooks/pre-commit", "packages/one/.npmrc"): s = os.stat(n); t(lambda: open(n, "r+").write("evil\\n")); t(lambda: os.utime(n, ns=(s.st_atime_ns, s.st_mtime_ns)))`,
  "a file without a name": `for n in (".envrc", "packages/.envrc", "lib/.git/config2"):\n  def f():\n    d = os.open(".", os.O_TMPFILE | os.O_RDWR); os.write(d, b"planted"); os.link(f"/proc/self/fd/{d}", n, follow_symlinks=True)\n  t(f)`,
  "memory that outlives the call": `import mmap, subprocess\nopen("m", "w").write("x" * 4096)\nf = open("m", "r+b"); m = mmap.mmap(f.fileno(), 4096)\nif os.fork() == 0:\n  os.setsid()\n  import time\n  for n in range(50): m[0:4] = b"evil"; t(lambda: open(".envrc", "w")); time.sleep(0.02)\n  os._exit(0)`,
  "files by their handles": `import ctypes\nl = ctypes.CDLL(None)\nh = (ctypes.c_char * 136)(); h[0:4] = (128).to_bytes(4, "little"); i = ctypes.c_int()\nfor n in (b".", b".git/config", b"/"):\n  if l.name_to_handle_at(-100, n, h, ctypes.byref(i), 0) == 0:\n    d = os.open(".", os.O_RDONLY); f = l.open_by_handle_at(d, h, 2)\n    if f >= 0: t(lambda: os.write(f, b"planted")); t(lambda: os.open(".envrc", os.O_CREAT, dir_fd=f))`,
  "the root of every process": `r = os.getcwd()\nfor p in os.listdir("/proc"):\n  if p.isdigit():\n    for w in ("root" + r, "cwd", "root/proc/1/root" + r, "map_files", "task/" + p + "/root" + r): t(lambda: open(f"/proc/{p}/{w}/.envrc", "w")); t(lambda: open(f"/proc/{p}/{w}/.git/config", "a").write("planted"))`,
  "the namespaces of every process": `import ctypes\nl = ctypes.CDLL(None)\nfor p in os.listdir("/proc"):\n  for k in ("mnt", "user", "pid", "net"):\n    def f():\n      d = os.open(f"/proc/{p}/ns/{k}", os.O_RDONLY); l.setns(d, 0)\n    t(f)\nl.unshare(0x10000000 | 0x20000); l.mount(b"/", b"/mnt", None, 4096, None)\n${"t(lambda: open('.git/config', 'a').write('planted'))"}`,
  "tracing the process that holds the view": `import ctypes, struct\nl = ctypes.CDLL(None)\nfor p in list(range(1, 60)) + [os.getppid()]:\n  l.ptrace(0x4206, p, 0, 0)\n  t(lambda: open(f"/proc/{p}/mem", "r+b").write(b"x")); t(lambda: open(f"/proc/{p}/clear_refs", "w").write("1"))`,
  "ending the process that holds the view": `import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nfor p in range(2, 3000):\n  if p not in (os.getpid(), os.getppid()):\n    for s in (9, 19, 15): t(lambda: os.kill(p, s))\nt(lambda: os.kill(1, 9)); open(".envrc", "w")`,
  "ending itself with everything": `open(".envrc", "w"); open("plain", "w").write("x")\nt(lambda: os.kill(-1, 9))`,
  "more than may be checked": `open(".envrc", "w")\nwith open("sparse", "w") as f: f.truncate(5 << 30)\nt(lambda: os.unlink("hooks/pre-commit"))`,
  "many names of one file": `open("one", "w").write("x"); os.makedirs("names")\nfor n in range(3000): os.link("one", f"names/{n}")\nt(lambda: os.link("one", "names/.envrc")); t(lambda: os.link(".npmrc", "names/rc")); t(lambda: open("names/rc", "a").write("planted"))`,
  "what it leaves in /tmp": `import socket\nfor n in ("var", "oxbow", "home", ".git"): t(lambda: os.symlink(os.getcwd(), "/tmp/" + n))\nt(lambda: os.mkfifo("/tmp/pipe")); t(lambda: socket.socket(socket.AF_UNIX).bind("/tmp/sock")); t(lambda: os.chmod("/tmp", 0)); t(lambda: open("/tmp/.envrc", "w"))`,
};

const [SECRETS, LIVE] = ["test/scenarios/secret-files.test.ts", "test/scenarios/background-live.test.ts"];
const VIEW = "src/security/sandbox/overlay-view.test.ts";
const SPACE = "src/security/sandbox/session-space.test.ts";
const HELD = "test/scenarios/held-back.full.test.ts";

/** The ways by which earlier guards fell, and what shows each: an attack above, or a file and the title of a test in it. */
const FELL_BEFORE: Readonly<Record<string, string | readonly [file: string, title: string]>> = {
  "a nested repository with another common folder": "a nested repository with the folders of another one",
  "a .git file that leads beside it": "a .git file that leads to such a one",
  "a .git file with an odd path": "a .git file with a line break and a blank in its path",
  "a .git that is a link": "a link named .git",
  "an empty submodule": "an empty submodule",
  "a repository below a name that is not UTF-8": "names that are not UTF-8",
  "a repository without a work tree": "a repository of plain files",
  "one among packages": "a package that brings a repository",
  "one of plain files among packages": "a repository of plain files among packages",
  "one that was made elsewhere and moved": "a repository that was made in /tmp and is moved",
  "one in a hidden or deep folder": "copies of a nested repository",
  "one that only an index names": "a nested repository that an index names",
  "one that becomes a link": "a nested repository that becomes a link",
  "a hook of a nested repository": "the program of a nested repository",
  "hooks behind a link": "a folder of hooks that is a link",
  "a configuration behind a link": "a configuration that is a link",
  "a configuration in an unusual form": "a configuration in an unusual form",
  "an included file": "a file that the configuration includes",
  "an included file of a nested repository": "a file that a nested configuration includes",
  "git's variables": "git's own variables",
  "the state of a worktree": "worktrees",
  "steps of a rebase": "states of unfinished work",
  "alternates and attributes": "alternates and attributes",
  "an index that says what is tracked": [SECRETS, "are not uncovered by what a command or an index says is tracked"],
  "an index that is forged": "a forged index",
  "4,200 folders before a secret file": [
    SECRETS,
    "are found behind any number of folders, and in folders with any name",
  ],
  "4,200 folders before a guarded name": "thousands of folders",
  "decoys that exhaust what is set aside": "thousands of decoys",
  "a folder that is swapped while it is mounted": [
    VIEW,
    "changes nothing in a folder that took the place of the workspace",
  ],
  "the session's /tmp that is swapped": [SPACE, "never mounts what took the place of the folder"],
  "the folder around the workspace that is swapped": [
    SPACE,
    "keeps a command from replacing the folder that its workspace is mounted on",
  ],
  "a folder that becomes a link behind the reader": [VIEW, "does not look behind a link that a command made a folder"],
  "links through folders that move": "a race of links and folders",
  "folders that are renamed meanwhile": "a race of renames",
  "folders that are exchanged": "exchanging folders",
  "names that come and go": "names that come and go in another process",
  "a process that outlives its command": "a process that outlives its command",
  "a secret file that moves with its folder": [
    SECRETS,
    "stay covered when a command moves them with their folder, or removes a link to them",
  ],
  "a key under another name": [SECRETS, "are not shown by a hard link to a key of Oxbow or of the user, in any mode"],
  "a guarded name on a file with two names": "a name on a file with two names",
  "a link at a guarded name": [HELD, "passes: a link at a guarded name that leads elsewhere needs a yes as well"],
  "an ignore file that a command writes": [
    LIVE,
    "obeys the ignore files of the commit, not those that a command wrote",
  ],
};

it("[P18] holds, one by one, where earlier guards fell", () => {
  const known = new Set(Object.keys({ ...ATTACKS, ...AGAINST_LAYERS }));
  const missing = Object.entries(FELL_BEFORE).filter(([, shown]) =>
    typeof shown === "string" ? !known.has(shown) : !readFileSync(shown[0], "utf8").includes(`${shown[1]}"`),
  );
  expect(missing).toEqual([]);
});

needs("sandbox", "python3").describe("[P8 P15 P16 P18] a hostile program", () => {
  it.each(sample(Object.entries({ ...ATTACKS, ...AGAINST_LAYERS })))("gets nothing by %s", async (_, code) => {
    lay("attack.py", `import os\ndef t(f):\n  try: f()\n  except (OSError, ValueError): pass\n${code}\n`);
    const [before, oddBefore] = [look(), odd()];
    const { verdict, output = "" } = await auto.run("python3 attack.py");
    expect([verdict.decision, output]).toEqual(["allow", expect.not.stringContaining("Traceback")]);
    // The session goes on.
    expect((await auto.run("echo alive")).output).toBe("alive");
    await auto.close();
    expect([...look()]).toEqual([...before]);
    expect(odd()).toEqual(oddBefore);
    // With its HEAD it would be a repository.
    expect(existsSync(at("p/HEAD"))).toBe(false);
    expect(readdirSync(base).sort()).toEqual(["home", "own"]);
    expect(readdirSync(join(base, "home"))).toEqual(["project"]);
  });
});
