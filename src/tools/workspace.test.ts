import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { skipWithout } from "../../test/support/needs.js";
import { times } from "../../test/support/thorough.js";
import { verifies } from "../../test/verifies.js";
import { Workspace, WorkspaceError } from "./workspace.js";

const SECRET = "the outside text";
let base: string;
let root: string;
let out: string;
let workspace: Workspace;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "workspace-")));
  root = join(base, "ws");
  out = join(base, "out");
  await mkdir(root);
  await mkdir(out);
  await writeFile(join(root, "a.txt"), "in");
  await writeFile(join(out, "secret.txt"), SECRET);
  workspace = await Workspace.open(root);
});

afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

async function refusal(action: Promise<unknown>): Promise<WorkspaceError> {
  const error = await action.then(
    (value) => new Error(`not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof WorkspaceError)) throw error;
  expect(error.message).not.toContain(SECRET);
  return error;
}

async function readable(path: string): Promise<string> {
  return (await workspace.readText(path)).text;
}

describe("opening a workspace", () => {
  it("says what is wrong with a folder that cannot be used", async () => {
    await expect(Workspace.open(join(base, "nowhere"))).rejects.toThrow(/nowhere does not exist.*Choose a folder/);
    await expect(Workspace.open(join(root, "a.txt"))).rejects.toThrow(/a\.txt.*Choose a folder/);
  });

  verifies(["T3"], "resolves the root once and accepts paths through the name it was opened by", async () => {
    await symlink(root, join(base, "door"));
    const through = await Workspace.open(join(base, "door"));
    expect(through.root).toBe(root);
    expect((await through.readText(join(base, "door", "a.txt"))).text).toBe("in");
  });

  verifies(["T3"], "is the only way of the tools to files", () => {
    const tools = fileURLToPath(new URL(".", import.meta.url));
    const importers = readdirSync(tools, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !/\.test\.ts$|test-support/.test(path))
      .filter((path) => /^import (?!type)[^;]*"node:fs(\/promises)?"/m.test(readFileSync(join(tools, path), "utf8")))
      .filter((path) => !path.startsWith("files/"));
    // The search lists folders that the workspace has resolved; outputs of commands lie outside of it.
    expect(importers.sort()).toEqual(["output-file.ts", "search/tree-walk.ts", "workspace.ts"]);
  });

  it("reports a deleted folder", async () => {
    await rm(root, { recursive: true });
    expect((await refusal(workspace.readText("a.txt"))).message).toMatch(/no longer exists/);
  });

  verifies(["T3"], "refuses everything when the root is swapped for a link elsewhere", async () => {
    await rename(root, join(base, "moved"));
    await symlink(out, root);
    expect((await refusal(workspace.readText("secret.txt"))).code).toBe("outside");
  });

  verifies(["T3"], "has extra roots by configuration only", async () => {
    const wide = await Workspace.open(root, { extraRoots: [out] });
    expect((await wide.readText(join(out, "secret.txt"))).text).toBe(SECRET);
    expect((await wide.resolve(join(out, "secret.txt"), "read")).display).toBe(join(out, "secret.txt"));
    expect((await refusal(workspace.readText(join(out, "secret.txt")))).code).toBe("outside");
  });
});

describe("what the session has read", () => {
  it("is forgotten, except for the files that are still shown", async () => {
    await writeFile(join(root, "b.txt"), "b\n");
    await workspace.readText("a.txt");
    await workspace.readText("b.txt");
    await workspace.keepSeen(["./b.txt", "gone.txt"]);
    expect((await refusal(workspace.writeText("a.txt", "x\n"))).code).toBe("unread");
    await workspace.writeText("b.txt", "x\n");
  });
});

describe("names that are fine", () => {
  it.each([
    "with space.txt",
    " leading and trailing ",
    "-rf",
    "--help",
    "ünïcödé-漢字-🦬.txt",
    "..hidden",
    "...",
    "te..st",
    "a\nb",
    "$HOME",
    "%2e%2e",
    "~x",
    "x~",
    "quote'\".txt",
    "deep/er/and/deeper.txt",
  ])("%j can be written, read, listed and removed", async (name) => {
    await workspace.writeText(name, "content\n");
    expect(await readable(name)).toBe("content\n");
    expect(await readable(join(root, name))).toBe("content\n");
    expect(await readFile(join(root, name), "utf8")).toBe("content\n");
    await workspace.remove(name);
    await expect(lstat(join(root, name))).rejects.toThrow("ENOENT");
  });

  it("may be written with the separator of Windows, unless a file is named so", async () => {
    await mkdir(join(root, "d"));
    await workspace.writeText("d\\new.txt", "new\n");
    expect(await readFile(join(root, "d/new.txt"), "utf8")).toBe("new\n");
    await writeFile(join(root, "d\\a.txt"), "odd name");
    expect(await readable("d\\a.txt")).toBe("odd name");
    expect((await refusal(workspace.writeText("..\\out.txt", "x"))).code).toBe("outside");
  });

  it("may begin with the home folder, unless a file is named so", async () => {
    expect((await refusal(workspace.writeText("~/new.txt", "x"))).code).toBe("outside");
    expect((await workspace.resolve(`~/${relative(homedir(), join(root, "a.txt"))}`, "read")).display).toBe("a.txt");
    await mkdir(join(root, "~"));
    await writeFile(join(root, "~/x"), "odd name");
    expect(await readable("~/x")).toBe("odd name");
  });

  it("follows links that stay inside, and shows where they lead", async () => {
    await symlink("a.txt", join(root, "link"));
    await symlink(join(root, "a.txt"), join(root, "absolute-link"));
    expect(await readable("link")).toBe("in");
    expect((await workspace.resolve("absolute-link", "read")).display).toBe("a.txt");
  });

  it("takes dots that stay inside", async () => {
    await mkdir(join(root, "d"));
    expect(await readable("./d/.././a.txt")).toBe("in");
    expect(await readable(`${root}//./a.txt`)).toBe("in");
  });

  it("finds a name that only its encoding sets apart", async () => {
    await writeFile(join(root, "cafe\u0301.txt"), "decomposed");
    await writeFile(join(root, "shot 3.04\u202fPM.png"), "narrow space");
    expect(await readable("caf\u00e9.txt")).toBe("decomposed");
    expect(await readable("shot 3.04 PM.png")).toBe("narrow space");
    const place = await workspace.resolve("caf\u00e9.txt", "write");
    expect(place.absolute).toBe(join(root, "cafe\u0301.txt"));
  });
});

describe("[T3] ways out", () => {
  const spellings = [
    "../out/secret.txt",
    "./../out/secret.txt",
    "a.txt/../../out/secret.txt",
    "new/../../out/secret.txt",
    "../ws/../out/secret.txt",
    "..//out///secret.txt",
    "OUT/secret.txt",
    "OUT",
    "..",
    "../",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "/./etc/../etc/passwd",
    "ROOT/../out/secret.txt",
    "ROOT-evil/secret.txt",
    "ROOT2",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/../out/secret.txt",
    "/proc/self/environ",
    `/proc/${process.pid}/environ`,
    "/proc/self/fd/0",
    "/dev/fd/0",
    "/dev/stdin",
    "/dev/zero",
    "/dev/tty",
    "/dev/tcp/127.0.0.1/80",
    "/sys/kernel/notes",
    "a.txt\0",
    "..\0/out/secret.txt",
    "",
    "~/.ssh/id_rsa",
    "~root/.bashrc",
    "$HOME/.profile",
    "file:///etc/passwd",
    "%2e%2e/out/secret.txt",
    "..%2fout%2fsecret.txt",
    "\uff0e\uff0e/out/secret.txt",
    "..\u2215out\u2215secret.txt",
    "..\\out\\secret.txt",
    "....//out/secret.txt",
    " ../out/secret.txt",
    '"../out/secret.txt"',
  ];

  it.each(spellings)("%j is not read", async (spelling) => {
    const path = spelling.replace("ROOT", root).replace(/^OUT/, out);
    await refusal(workspace.readText(path));
    await refusal(workspace.read(path));
    await refusal(workspace.stat(path));
  });

  it.each(spellings.slice(0, 17))("%j is not written, moved to or removed", async (spelling) => {
    await writeFile(join(root, "source"), "s");
    const path = spelling.replace("ROOT", root).replace(/^OUT/, out);
    await refusal(workspace.writeText(path, "PWN"));
    await refusal(workspace.move("source", path));
    await refusal(workspace.remove(path));
    expect(await readFile(join(out, "secret.txt"), "utf8")).toBe(SECRET);
    expect(await readdir(out)).toEqual(["secret.txt"]);
    expect((await readdir(base)).sort()).toEqual(["out", "ws"]);
  });

  verifies(["T3"], "a link out is refused for every use, however long the chain", async () => {
    await symlink(join(out, "secret.txt"), join(root, "file"));
    await symlink("../out", join(root, "dir"));
    await symlink("second", join(root, "first"));
    await symlink("file", join(root, "second"));
    await symlink(join(out, "later.txt"), join(root, "dangling"));
    for (const path of ["file", "dir/secret.txt", "first", "dir", "dir/../secret.txt"]) {
      expect((await refusal(workspace.readText(path))).code, path).toBe("outside");
    }
    for (const path of ["file", "dir/secret.txt", "dir/new.txt", "dir/x/y/new.txt", "first", "dangling"]) {
      await refusal(workspace.writeText(path, "PWN"));
      await refusal(workspace.remove(path));
      await refusal(workspace.move(path, "elsewhere"));
      await refusal(workspace.move("a.txt", path));
    }
    expect(await readdir(out)).toEqual(["secret.txt"]);
    expect(await readFile(join(out, "secret.txt"), "utf8")).toBe(SECRET);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("in");
  });

  it("links in a circle end in an error", async () => {
    await symlink("b", join(root, "a"));
    await symlink("a", join(root, "b"));
    expect((await refusal(workspace.readText("a"))).message).toMatch(/circle/);
    await refusal(workspace.writeText("a", "x"));
  });

  it("dots after a link mean what the kernel means", async () => {
    await mkdir(join(root, "one/two"), { recursive: true });
    await writeFile(join(root, "one/here.txt"), "beside two");
    await symlink("one/two", join(root, "jump"));
    expect(await readable("jump/../here.txt")).toBe("beside two");
  });

  it("does not tell whether something outside exists", async () => {
    const there = await refusal(workspace.readText("../out/secret.txt"));
    const notThere = await refusal(workspace.readText("../out/absent.txt"));
    expect(notThere.message.replace("absent", "secret")).toBe(there.message);
  });

  verifies(["T3"], "kernel trees stay closed when the whole machine is the workspace", async () => {
    const all = await Workspace.open("/");
    for (const path of ["/proc/self/status", "/proc/self/environ", "/dev/zero", "/proc/not/there"]) {
      expect([path, (await refusal(all.readText(path))).code]).toEqual([path, "outside"]);
    }
    expect((await all.readText(fileURLToPath(import.meta.url))).text).toContain("kernel trees");
  });

  it("names that are not UTF-8 are missing, and a link to one ends", async (context) => {
    skipWithout(context, "linux");
    await writeFile(Buffer.from(`${root}/x\xff`, "latin1"), "");
    await symlink(Buffer.from("x\xff", "latin1"), join(root, "link"));
    expect((await refusal(workspace.readText("x\ufffd"))).code).toBe("missing");
    await workspace.move("link", "other").catch(() => {});
  });

  it("overlong names and paths are errors, not crashes", async () => {
    await refusal(workspace.writeText("n".repeat(300), "x"));
    await refusal(workspace.writeText(`${"d".repeat(200)}/`.repeat(30), "x"));
    await workspace.writeText("n".repeat(255), "the longest name there is");
    expect(await readable("n".repeat(255))).toBe("the longest name there is");
  });
});

describe("[T3] things that are not files", () => {
  it("a pipe without a writer does not block", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect((await refusal(workspace.readText("pipe"))).message).toMatch(/named pipe/);
    await refusal(workspace.writeText("pipe", "x"));
    expect((await lstat(join(root, "pipe"))).isFIFO()).toBe(true);
  });

  it("a socket and a folder are errors", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "socket"), resolve));
    try {
      expect((await refusal(workspace.readText("socket"))).message).toMatch(/socket/);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    expect((await refusal(workspace.readText("."))).message).toMatch(/folder.*ls/);
    expect((await refusal(workspace.readText("a.txt/b"))).code).toBe("not_a_folder");
    await mkdir(join(root, "folder"));
    expect((await refusal(workspace.writeText("folder", "x"))).code).toBe("not_a_file");
  });

  it("a device behind a link is outside", async () => {
    await symlink("/dev/zero", join(root, "zero"));
    expect((await refusal(workspace.readText("zero"))).code).toBe("outside");
  });

  it("reads no more of a huge file than asked", async () => {
    execFileSync("truncate", ["-s", "100G", join(root, "sparse")]);
    expect((await workspace.read("sparse", { maxBytes: 1000 })).bytes.length).toBe(1000);
    expect((await refusal(workspace.readText("sparse"))).code).toBe("too_large");
    await refusal(workspace.writeText("sparse", "x"));
  });
});

describe("[T3] races", () => {
  verifies(["T3"], "folders that turn into links while writing never lead out", async () => {
    const flip = join(root, "flip");
    let running = true;
    let flips = 0;
    const attacker = (async () => {
      while (running) {
        await mkdir(flip).catch(() => {});
        await rename(flip, join(root, `was-${flips++}`)).catch(() => {});
        await symlink(out, flip).catch(() => {});
        await rm(flip, { force: true }).catch(() => {});
      }
    })();
    const seen: string[] = [];
    for (let i = 0; i < times(120, 400) || flips < 100; i++) {
      await workspace.writeText(`flip/new-${i}.txt`, "PWN").catch(() => {});
      await workspace.readText("flip/secret.txt").then(
        (file) => seen.push(file.text),
        () => {},
      );
      await workspace.remove("flip/secret.txt").catch(() => {});
    }
    running = false;
    await attacker;
    expect(seen).toEqual([]);
    expect(await readdir(out)).toEqual(["secret.txt"]);
  });

  it("a file that turns into a link while reading never shows the other", async () => {
    const file = join(root, "f");
    let running = true;
    const attacker = (async () => {
      while (running) {
        await writeFile(join(root, "fresh"), "mine");
        await rename(join(root, "fresh"), file);
        await symlink(join(out, "secret.txt"), join(root, "link"));
        await rename(join(root, "link"), file);
      }
    })();
    const seen = new Set<string>();
    for (let i = 0; i < 400; i++) {
      await workspace.readText("f").then(
        ({ text }) => seen.add(text),
        () => {},
      );
    }
    running = false;
    await attacker;
    expect([...seen].filter((text) => text !== "mine" && text !== "")).toEqual([]);
  });
});

describe("[T5] writing", () => {
  it("replaces instead of writing through a hard link", async () => {
    await link(join(out, "secret.txt"), join(root, "hard"));
    await workspace.readText("hard");
    await workspace.writeText("hard", "mine now");
    expect(await readFile(join(out, "secret.txt"), "utf8")).toBe(SECRET);
    expect(await readable("hard")).toBe("mine now");
  });

  it("writes through a link inside and leaves the link", async () => {
    await symlink("a.txt", join(root, "link"));
    await workspace.readText("link");
    const result = await workspace.writeText("link", "new");
    expect(result.path.display).toBe("a.txt");
    expect((await lstat(join(root, "link"))).isSymbolicLink()).toBe(true);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("new");
  });

  verifies(["T5"], "keeps the mode, and gives a new file the usual one", async () => {
    await writeFile(join(root, "run.sh"), "#!/bin/sh\n");
    await chmod(join(root, "run.sh"), 0o750);
    await workspace.readText("run.sh");
    await workspace.writeText("run.sh", "#!/bin/sh\ntrue\n");
    expect((await stat(join(root, "run.sh"))).mode & 0o7777).toBe(0o750);
    await workspace.writeText("fresh", "x");
    expect((await stat(join(root, "fresh"))).mode & 0o7777).toBe(0o666 & ~process.umask());
  });

  it("leaves a read-only file alone", async () => {
    await chmod(join(root, "a.txt"), 0o444);
    await workspace.readText("a.txt");
    expect((await refusal(workspace.writeText("a.txt", "x"))).code).toBe("read_only");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("in");
  });

  verifies(["T5"], "keeps byte order mark, line endings and encoding", async () => {
    const cases: [string, Buffer, string, Buffer][] = [
      [
        "crlf with mark",
        Buffer.from("\ufeffone\r\ntwo\r\n"),
        "one\n2\nthree\n",
        Buffer.from("\ufeffone\r\n2\r\nthree\r\n"),
      ],
      ["mixed", Buffer.from("a\r\nb\nc\r\nd\n"), "a\nB\nnew\nc\nd\n", Buffer.from("a\r\nB\r\nnew\r\nc\r\nd\n")],
      ["utf-16", utf16("eins\r\nzwei\r\n"), "eins\n2 ü\n", utf16("eins\r\n2 ü\r\n")],
      ["utf-16 big", utf16("eins\n").swap16(), "zwei\n", utf16("zwei\n").swap16()],
      [
        "single byte",
        Buffer.from("na\xefve\n", "latin1"),
        "na\u00efve caf\u00e9\n",
        Buffer.from("na\xefve caf\xe9\n", "latin1"),
      ],
    ];
    for (const [name, before, text, after] of cases) {
      await writeFile(join(root, name), before);
      const file = await workspace.readText(name);
      expect(file.text, name).not.toMatch(/\r|\ufeff/);
      expect((await workspace.writeText(name, file.text)).changed, name).toBe(false);
      expect((await readFile(join(root, name))).equals(before), name).toBe(true);
      await workspace.writeText(name, text);
      expect((await readFile(join(root, name))).toString("hex"), name).toBe(after.toString("hex"));
    }
  });

  it("refuses a character that the file's encoding cannot hold", async () => {
    await writeFile(join(root, "old.txt"), Buffer.from("na\xefve\n", "latin1"));
    await workspace.readText("old.txt");
    expect((await refusal(workspace.writeText("old.txt", "漢字\n"))).message).toMatch(/single-byte/);
  });

  it("writes a new file exactly as given", async () => {
    await workspace.writeText("dos.txt", "a\r\nb\r\n");
    expect(await readFile(join(root, "dos.txt"), "utf8")).toBe("a\r\nb\r\n");
  });

  verifies(["T5"], "leaves nothing behind when it fails", async () => {
    await workspace.readText("a.txt");
    await rm(join(root, "a.txt"));
    await mkdir(join(root, "a.txt"));
    await refusal(workspace.writeText("a.txt", "x"));
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("parallel writes end with one whole content", async () => {
    const texts = Array.from({ length: 20 }, (_, i) => `${i}`.repeat(50_000));
    await Promise.all(texts.map((text) => workspace.writeText("many.txt", text)));
    expect(texts).toContain(await readable("many.txt"));
    expect((await readdir(root)).sort()).toEqual(["a.txt", "many.txt"]);
  });
});

describe("[T5] files that changed since they were read (T5)", () => {
  verifies(["T5"], "an existing file is not overwritten unread; a new or an empty one is", async () => {
    expect((await refusal(workspace.writeText("a.txt", "x"))).code).toBe("unread");
    await writeFile(join(root, "empty"), "");
    await workspace.writeText("empty", "x");
    await workspace.writeText("new", "x");
    await workspace.writeText("new", "y");
    expect(await readable("new")).toBe("y");
  });

  verifies(["T5"], "a change of the same length in the same instant is noticed", async () => {
    await workspace.readText("a.txt");
    const { atime, mtime } = await stat(join(root, "a.txt"));
    await writeFile(join(root, "a.txt"), "IN");
    await utimes(join(root, "a.txt"), atime, mtime);
    const error = await refusal(workspace.writeText("a.txt", "x"));
    expect(error.code).toBe("changed");
    expect(error.message).toMatch(/Read it again/);
    expect(await readable("a.txt")).toBe("IN");
    await workspace.writeText("a.txt", "x");
  });

  it("a file that was touched but says the same is not a change", async () => {
    await workspace.readText("a.txt");
    await utimes(join(root, "a.txt"), 1, 1);
    await workspace.writeText("a.txt", "x");
    expect(await readable("a.txt")).toBe("x");
  });

  it("a basis replaces the read, but not an outdated one", async () => {
    const first = await workspace.readText("a.txt");
    await workspace.writeText("a.txt", "edited", { basis: first.version });
    expect((await refusal(workspace.writeText("a.txt", "again", { basis: first.version }))).code).toBe("changed");
    await writeFile(join(root, "a.txt"), "by someone else");
    const look = await workspace.readText("a.txt", { purpose: "look" });
    expect((await refusal(workspace.writeText("a.txt", "x", { basis: look.version }))).code).toBe("changed");
    await workspace.readText("a.txt");
    await workspace.writeText("a.txt", "x", { basis: look.version });
  });

  it("a change to an unread file does not make it known", async () => {
    const { version } = await workspace.readText("a.txt", { purpose: "look" });
    await workspace.writeText("a.txt", "edited", { basis: version });
    expect((await refusal(workspace.writeText("a.txt", "overwritten"))).code).toBe("unread");
  });

  it("removing and moving mind it too", async () => {
    await workspace.readText("a.txt");
    await writeFile(join(root, "a.txt"), "changed");
    expect((await refusal(workspace.remove("a.txt"))).code).toBe("changed");
    expect((await refusal(workspace.move("a.txt", "b.txt"))).code).toBe("changed");
  });

  it("a file too large to compare is known by size and time", async () => {
    execFileSync("truncate", ["-s", "40M", join(root, "large")]);
    await workspace.withFile("large", (handle, { path }) => workspace.rememberSeen(path, handle));
    await workspace.move("large", "moved");
    execFileSync("truncate", ["-s", "41M", join(root, "moved")]);
    expect((await refusal(workspace.remove("moved"))).code).toBe("changed");
    await workspace.withFile("moved", (handle, { path }) => workspace.rememberSeen(path, handle));
    await workspace.remove("moved");
  });

  it("a moved file stays known; a removed one is forgotten", async () => {
    await workspace.readText("a.txt");
    await workspace.move("a.txt", "sub/b.txt");
    await workspace.writeText("sub/b.txt", "x");
    await workspace.remove("sub/b.txt");
    await writeFile(join(root, "sub/b.txt"), "another");
    expect((await refusal(workspace.writeText("sub/b.txt", "y"))).code).toBe("unread");
  });

  it("read, compute and write as one is not lost among others", async () => {
    await writeFile(join(root, "counter"), "0");
    await Promise.all(
      Array.from({ length: 25 }, () =>
        workspace.exclusive(["counter", "./counter"], async () => {
          const { text, version } = await workspace.readText("counter", { purpose: "look" });
          await workspace.writeText("counter", String(Number(text) + 1), { basis: version });
        }),
      ),
    );
    expect(await readable("counter")).toBe("25");
  });
});

describe("folders and entries", () => {
  it("lists by name with kinds", async () => {
    await mkdir(join(root, "z"));
    await symlink("a.txt", join(root, "link"));
    expect(await workspace.list(".")).toEqual([
      { name: "a.txt", kind: "file" },
      { name: "link", kind: "link" },
      { name: "z", kind: "folder" },
    ]);
    expect((await workspace.stat("link")).kind).toBe("file");
    expect(await workspace.linkTarget(".", "link")).toBe("a.txt");
  });

  it("removes a link, not what it leads to; an empty folder, not a full one; never itself", async () => {
    await symlink("a.txt", join(root, "link"));
    await mkdir(join(root, "d/e"), { recursive: true });
    await workspace.remove("link");
    expect(await readable("a.txt")).toBe("in");
    expect((await refusal(workspace.remove("d"))).code).toBe("exists");
    await workspace.remove("d/e");
    await workspace.remove("d");
    await refusal(workspace.remove("."));
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("does not move over what is there", async () => {
    await writeFile(join(root, "b.txt"), "b");
    expect((await refusal(workspace.move("a.txt", "b.txt"))).code).toBe("exists");
    expect(await readable("b.txt")).toBe("b");
  });

  it("suggests what a missing name may have meant", async () => {
    await mkdir(join(root, "src"));
    await writeFile(join(root, "src/index.ts"), "");
    const cases = [
      ["src/indx.ts", "src/indx.ts", "src/index.ts"],
      ["src/index.js", "src/index.js", "src/index.ts"],
      ["scr/index.ts", "scr", "src"],
    ] as const;
    for (const [path, missing, near] of cases) {
      const { message, quoted } = await refusal(workspace.readText(path));
      expect([message, quoted]).toEqual([`${missing} does not exist. Did you mean one of these?`, near]);
    }
    expect((await refusal(workspace.readText("zzzzzz"))).message).toMatch(/Use ls or glob/);
  });
});

describe("sensitive places", () => {
  it("are named with a reason, however they are spelled", async () => {
    for (const path of [
      ".env",
      ".ENV",
      ".env.",
      ".env::$DATA",
      ".env.local",
      ".git/config",
      ".GIT/config",
      ".git /config",
    ]) {
      expect((await workspace.resolve(path, "write")).sensitive, path).toBeDefined();
    }
    for (const path of ["src/index.ts", ".gitignore", ".env.example", "package.json", ".git/index"]) {
      expect((await workspace.resolve(path, "write")).sensitive, path).toBeUndefined();
    }
  });

  it("are known by the place a link leads to", async () => {
    await writeFile(join(root, ".env"), "KEY=1");
    await symlink(".env", join(root, "harmless.txt"));
    expect((await workspace.resolve("harmless.txt", "read")).sensitive).toMatch(/secrets/);
  });
});

function utf16(text: string): Buffer {
  return Buffer.from(`\ufeff${text}`, "utf16le");
}
