/** What a command writes is held back, read as a change set, and applied or not. */
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { needs } from "../../../test/support/needs.js";
import { until } from "../../../test/support/waiting.js";
import { applyChanges } from "../../system/overlay/apply-changes.js";
import type { HeldChange } from "../../system/overlay/change-set.js";
import { runProcess } from "../../system/process-group.js";
import { SandboxTestbed } from "./sandbox-testbed.js";
import { SessionSpace } from "./session-space.js";

let bed: SandboxTestbed;
let space: SessionSpace;

beforeEach(() => {
  bed = new SandboxTestbed();
  space = new SessionSpace();
});

afterEach(async () => {
  await bed.close();
  await space.close();
});

const { it } = needs("sandbox");

/** Runs a script in a view; `meanwhile` happens before its changes are applied. */
async function held(script: string, { meanwhile = () => {}, masked = [] as readonly string[] } = {}) {
  const sandbox = bed.sandbox({ sandbox: { space }, policy: masked.length > 0 ? { secrets: "masked" } : {} });
  expect(await sandbox.whyNotHeld()).toBeUndefined();
  const wrapped = await bed.wrap(script, { within: sandbox, writes: "held" });
  const startedAt = Date.now();
  const ran = await bed.run(wrapped);
  const view = wrapped.view;
  if (view === undefined) throw new Error("no view");
  const untouched = snapshot();
  meanwhile();
  const [set] = await view.read(undefined);
  if (set === undefined) throw new Error("no set");
  const apply = () =>
    applyChanges({
      root: set.root,
      upper: set.upper,
      removed: view.removedOf(set.root),
      startedAt,
      changes: set.changes,
    });
  return { ran, set, untouched, apply, end: () => wrapped.ended() };
}

function snapshot(folder = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(bed.path(folder))) {
    const path = folder === "" ? name : `${folder}/${name}`;
    const stat = lstatSync(bed.path(path));
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) found[path] = `-> ${readlinkSync(bed.path(path))}`;
    else if (stat.isDirectory()) Object.assign(found, { [path]: `folder ${mode}` }, snapshot(path));
    else found[path] = `${mode} ${readFileSync(bed.path(path), "utf8")}`;
  }
  return found;
}

function words(changes: readonly HeldChange[]): readonly string[] {
  return changes.map(
    ({ path, before, after }) => `${before === undefined ? "+" : after === undefined ? "-" : "~"}${path}`,
  );
}

describe("a command in a view", () => {
  it("[P18] changes nothing before its changes are applied, and then what it changed", async () => {
    bed.write(bed.path("a"), "one\n");
    bed.write(bed.path("dir/x"), "x\n");
    bed.write(bed.path("dir/sub/y"), "y\n");
    bed.write(bed.path("gone/deep/z"), "z\n");
    bed.write(bed.path("script.sh"), "echo hi\n");
    symlinkSync("a", bed.path("link"));
    const before = snapshot();
    const { ran, set, untouched, apply, end } = await held(
      "echo two >> a; rm -r gone; mkdir -p new/er; echo n > new/er/n; chmod +x script.sh; rm link; ln -s dir/x link; rm -r dir; mkdir dir; echo fresh > dir/fresh; cat dir/fresh a",
    );
    expect(ran).toMatchObject({ code: 0, output: "fresh\none\ntwo" });
    expect(untouched).toEqual(before);
    expect(words(set.changes).toSorted()).toEqual(
      [
        "~a",
        "-dir/sub",
        "-dir/sub/y",
        "-dir/x",
        "+dir/fresh",
        "-gone",
        "-gone/deep",
        "-gone/deep/z",
        "~link",
        "+new",
        "+new/er",
        "+new/er/n",
        "~script.sh",
      ].toSorted(),
    );
    expect((await apply()).conflicts).toEqual([]);
    expect(snapshot()).toEqual({
      a: "644 one\ntwo\n",
      dir: "folder 755",
      "dir/fresh": "644 fresh\n",
      link: "-> dir/x",
      new: "folder 755",
      "new/er": "folder 755",
      "new/er/n": "644 n\n",
      "script.sh": "755 echo hi\n",
    });
    await end();
    await until(() => readdirSync(join(bed.state, "views")).length === 0);
  });

  it("exchanges files and folders", async () => {
    bed.write(bed.path("file"), "f\n");
    bed.write(bed.path("folder/in/side"), "s\n");
    const { apply, end } = await held("rm file; mkdir file; echo a > file/a; rm -r folder; echo b > folder");
    expect((await apply()).conflicts).toEqual([]);
    expect(snapshot()).toEqual({ file: "folder 755", "file/a": "644 a\n", folder: "644 b\n" });
    await end();
  });

  it("keeps what others changed meanwhile, and puts its own beside it", async () => {
    for (const name of ["a", "b", "c", "same"]) bed.write(bed.path(name), `${name}\n`);
    const { apply, end } = await held(
      "echo ours > a; rm b; echo ours > c; echo ours > fresh; echo more >> same; sleep 0.05",
      {
        meanwhile: () => {
          writeFileSync(bed.path("a"), "theirs\n");
          writeFileSync(bed.path("b"), "theirs\n");
          writeFileSync(bed.path("fresh"), "theirs\n");
          writeFileSync(bed.path("c.tmp"), "theirs\n");
          renameSync(bed.path("c.tmp"), bed.path("c"));
        },
      },
    );
    const { conflicts } = await apply();
    expect(conflicts.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
      { path: "a", ours: "a.oxbow" },
      { path: "b", ours: undefined },
      { path: "c", ours: "c.oxbow" },
      { path: "fresh", ours: "fresh.oxbow" },
    ]);
    const theirs = "644 theirs\n";
    const ours = "644 ours\n";
    expect(snapshot()).toEqual({
      ...{ a: theirs, "a.oxbow": ours, b: theirs, c: theirs, "c.oxbow": ours, fresh: theirs, "fresh.oxbow": ours },
      same: "644 same\nmore\n",
    });
    await end();
  });

  it("never passes on sockets, pipes, devices and files that run with other rights", async () => {
    const { set, apply, end } = await held(
      "mkfifo pipe; mkdir d; cp /bin/true d/su; chmod 4755 d/su || true; echo ok > fine",
    );
    expect(set.problems.map(({ path }) => path)).toContain("pipe");
    await apply();
    expect(existsSync(bed.path("pipe"))).toBe(false);
    expect(lstatSync(bed.path("fine")).isFile()).toBe(true);
    await end();
  });

  it("hides secret files by name, and keeps them when their folder is removed", async () => {
    bed.write(bed.path("app/.env"), "VALUE=1\n");
    bed.write(bed.path("app/main.js"), "1\n");
    const { ran, set, apply, end } = await held("ls -a app; cat app/.env; grep -r VALUE .; rm -r app && echo removed", {
      masked: ["app/.env"],
    });
    expect(ran.output).not.toContain("VALUE=1");
    expect(ran.output).toContain("removed");
    expect(ran.output.split("\n").slice(0, 3)).toEqual([".", "..", "main.js"]);
    expect(set.staying).toEqual(["app"]);
    await apply();
    expect(snapshot()).toEqual({ app: "folder 755", "app/.env": "644 VALUE=1\n" });
    await end();
  });

  it("does not count a file that was only opened, keeps times, and sees a change that puts the times back", async () => {
    for (const name of ["opened", "touched", "sneaky"]) bed.write(bed.path(name), "abc\n");
    utimesSync(bed.path("sneaky"), 1_000_000, 1_000_000);
    const { set, apply, end } = await held(
      ": 9<>opened; touch -d @2000000 touched; printf 'xyz\\n' > sneaky; touch -d @1000000 sneaky",
    );
    expect(words(set.changes).toSorted()).toEqual(["~sneaky", "~touched"]);
    await apply();
    expect(lstatSync(bed.path("touched")).mtimeMs).toBe(2_000_000_000);
    expect(readFileSync(bed.path("sneaky"), "utf8")).toBe("xyz\n");
    await end();
  });

  it("keeps names that are not UTF-8, closed folders, and other names of a removed file", async () => {
    bed.write(bed.path("store/one"), "1\n");
    linkSync(bed.path("store/one"), bed.path("two"));
    const { apply, end } = await held(
      "touch $'bad\\xff'; mkdir shut; echo x > shut/x; chmod 500 shut; rm -r store; rm two",
    );
    expect((await apply()).conflicts).toEqual([]);
    expect(
      readdirSync(bed.workspace, { encoding: "buffer" })
        .map((name) => name.toString("latin1"))
        .toSorted(),
    ).toEqual(["bad\xff", "shut"]);
    expect(snapshot("shut")).toEqual({ "shut/x": "644 x\n" });
    chmodSync(bed.path("shut"), 0o700);
    await end();
  });

  it("changes nothing in a folder that took the place of the workspace", async () => {
    const wrapped = await bed.wrap("echo 1 > a; ls", { sandbox: { space }, writes: "held" });
    renameSync(bed.workspace, `${bed.workspace}-old`);
    mkdirSync(bed.workspace);
    writeFileSync(bed.path("b"), "");
    expect((await bed.run({ ...wrapped, cwd: "/" })).output).toBe("a");
    await expect(wrapped.view?.read(undefined)).rejects.toThrow("was replaced");
    await wrapped.ended();
    rmSync(`${bed.workspace}-old`, { recursive: true });
  });

  it("[P18] does not look behind a link that a command made a folder", async () => {
    bed.write(join(bed.outside, "far/x"), "far\n");
    bed.write(join(bed.outside, "far/sub/y"), "far\n");
    symlinkSync(join(bed.outside, "far"), bed.path("a"));
    const { set, apply, end } = await held("rm a; mkdir -p a/sub; echo mine > a/x");
    expect(words(set.changes).toSorted()).toEqual(["+a/sub", "+a/x", "~a"]);
    expect((await apply()).conflicts).toEqual([]);
    expect(snapshot()).toEqual({ a: "folder 755", "a/sub": "folder 755", "a/x": "644 mine\n" });
    expect(readFileSync(join(bed.outside, "far/x"), "utf8")).toBe("far\n");
    await end();
  });

  it("names repositories in a folder without undo that goes, and keeps the folder if others change it", async () => {
    bed.write(bed.path("node_modules/p/.git/HEAD"), "ref\n");
    bed.write(bed.path("node_modules/q/index.js"), "1\n");
    const { set, apply, end } = await held("rm -r node_modules; sleep 0.05", {
      meanwhile: () => writeFileSync(bed.path("node_modules/fresh"), "theirs"),
    });
    expect(words(set.changes)).toEqual(["-node_modules/p/.git", "-node_modules"]);
    expect((await apply()).conflicts).toEqual([{ path: "node_modules", ours: undefined }]);
    expect(existsSync(bed.path("node_modules/q/index.js"))).toBe(true);
    await end();
  });

  it("[P18] replaces a folder without undo as a whole, keeps what is hidden in it, and what others change there", async () => {
    for (const each of ["p", "q", "r", "s"]) bed.write(bed.path(`.venv/${each}/main.js`), "old\n");
    bed.write(bed.path(".venv/p/old.js"), "old\n");
    bed.write(bed.path(".venv/q/.env"), "VALUE=1\n");
    bed.write(bed.path(".venv/s/.git/config"), "theirs\n");
    const again = (each: string) => `rm -rf .venv/${each}; mkdir -p .venv/${each}; echo new > .venv/${each}/main.js`;
    const { set, apply, end } = await held([..."pqrs"].map(again).join("; "), {
      masked: [".venv/q/.env"],
      meanwhile: () => writeFileSync(bed.path(".venv/r/more.js"), "theirs\n"),
    });
    expect(
      set.changes
        .filter(({ whole }) => whole)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual([".venv/p", ".venv/r", ".venv/s/.git"]);
    const written = lstatSync(join(set.upper, ".venv/p/main.js")).ino;
    // A folder is moved there, never copied.
    const isOneSystem = lstatSync(set.upper).dev === lstatSync(bed.workspace).dev;
    expect((await apply()).conflicts).toEqual([{ path: ".venv/r", ours: isOneSystem ? ".venv/r.oxbow" : undefined }]);
    expect(lstatSync(bed.path(".venv/p/main.js")).ino === written).toBe(isOneSystem);
    const files = Object.entries(snapshot()).filter(([, text]) => !text.startsWith("folder"));
    expect(Object.fromEntries(files)).toEqual({
      ".venv/p/main.js": "644 new\n",
      ".venv/q/.env": "644 VALUE=1\n",
      ".venv/q/main.js": "644 new\n",
      ".venv/r/main.js": "644 old\n",
      ".venv/r/more.js": "644 theirs\n",
      ...(isOneSystem && { ".venv/r.oxbow/main.js": "644 new\n" }),
      ".venv/s/main.js": "644 new\n",
    });
    await end();
  });

  it("changes a hidden file where that is allowed, and tells renamed files from others", async () => {
    bed.write(bed.path(".env"), "VALUE=1\n");
    bed.write(bed.path("old"), "content\n");
    utimesSync(bed.path("old"), 1_000_000, 1_000_000);
    const { set, apply, end } = await held("echo VALUE=2 > .env; mv old new; echo content > other", {
      masked: [".env"],
    });
    expect(words(set.changes).toSorted()).toEqual(["+new", "+other", "-old", "~.env"]);
    expect(set.changes.flatMap(({ path, from }) => (from === undefined ? [] : [[path, from]]))).toEqual([
      ["new", "old"],
    ]);
    expect(set.isHidden(".env")).toBe(true);
    expect((await apply()).conflicts).toEqual([]);
    expect(readFileSync(bed.path(".env"), "utf8")).toBe("VALUE=2\n");
    await end();
  });

  for (const [what, script] of [
    ["more folders than it follows", "for i in {1..300}; do mkdir d; cd d; done"],
    [
      "a path that is too long for the kernel",
      "n=$(printf 'n%.0s' {1..200}); for i in {1..40}; do mkdir $n; cd $n; done",
    ],
  ] as const)
    it(`refuses ${what}, and leaves nothing behind`, async () => {
      const wrapped = await bed.wrap(`${script}; touch end`, { sandbox: { space }, writes: "held" });
      expect((await bed.run(wrapped)).output).toBe("");
      await expect(wrapped.view?.read(undefined)).rejects.toThrow("Use shorter paths");
      await wrapped.ended();
      expect(readdirSync(bed.workspace)).toEqual([]);
      await until(() => readdirSync(join(bed.state, "views")).length === 0);
    });

  it("stays mounted for a command that begins while another one ends", async () => {
    const within = bed.sandbox({ sandbox: { space } });
    const first = await bed.wrap("echo 1 > a", { within, writes: "held" });
    await bed.run(first);
    const point = first.view?.folders[0]?.merged ?? "";
    const isMounted = `grep -c ${point} /proc/self/mountinfo`;
    const other = await bed.wrap(`${isMounted}; read _; ${isMounted}`, { within, writes: "held" });
    const { program, args, cwd, env } = other;
    let output = "";
    const ended = async () => {
      await until(() => output.includes("\n"));
      await first.ended();
      await until(() => !existsSync(first.view?.folder ?? "/"));
      return "\n";
    };
    await runProcess({
      ...{ argv: [program, ...args], cwd, env, input: ended(), timeoutMs: 20_000 },
      onOutput: (chunk) => {
        output += chunk;
      },
    });
    expect(output).toBe("1\n1\n");
    await other.ended();
  });
});
