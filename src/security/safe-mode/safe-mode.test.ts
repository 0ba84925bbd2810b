import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { slashLine } from "../../commands/test-support/slash-line.js";
import { readCommand } from "../permissions/read-command.js";
import { StateFileError } from "../permissions/state-file.js";
import { safeModeCommands } from "./commands.js";
import { changeSafeMode, DEFAULT_SAFE_COMMANDS, SAFE_MODE_OFF, safeModeFile, safeModeRefusal } from "./safe-mode.js";

const read = (text: string) => readCommand(text, { workspace: "/project", home: "/home/ada" });

describe("what safe mode refuses", () => {
  const state = { on: true, allowed: [...DEFAULT_SAFE_COMMANDS, "timeout", "git", "./check.sh"] };
  const runs = [
    "ls -la",
    "cat a | grep b | sort | head",
    "cd src && ls; pwd",
    "find . -name '*.ts' -type f",
    "ls > /dev/null 2>&1",
    "timeout 5 ls",
    "[ -f a ] && cat a",
    "for f in a b; do cat $f; done",
    "./check.sh --all",
    "git log",
    "NAME=x; echo $NAME",
    "'ls'",
  ];
  const refused: readonly [text: string, says: RegExp][] = [
    ["make", /"make" is not on the list/],
    ["ls; make", /"make"/],
    ["ls && (cat a; make)", /"make"/],
    ["echo $(make)", /"make"/],
    ["cat <(make)", /"make"/],
    ["if true; then make; fi", /"make"/],
    ["ls() { make; }; ls", /"make"/],
    ["timeout 5 make", /"make"/],
    ["./ls", /"\.\/ls"/],
    ["/tmp/ls", /"\/tmp\/ls"/],
    ["l\\s; m'a'ke", /"make"/],
    ["$TOOL x", /cannot tell which program/],
    ["eval ls", /"eval"/],
    ["bash -c ls", /"bash"/],
    ["alias ls=make", /"alias"/],
    ["find . -exec make ';'", /"find -exec" can run other programs/],
    ["find . -delete", /"find -delete"/],
    ["sort -o x a", /"sort -o"/],
    ["rg --pre ./x y", /"rg --pre"/],
    ["git -c core.pager=x log", /"git -c"/],
    ["PATH=/tmp ls", /sets PATH/],
    ["PATH=/tmp; ls", /sets PATH/],
    ["LD_PRELOAD=x ls", /sets LD_PRELOAD/],
    ["echo x > a", /writes to a/],
    ["echo x >> ~/.bashrc", /writes to ~\/\.bashrc/],
    ["> a", /writes to a/],
    ["echo 'x", /runs only what it understands/],
    ["", /runs only what it understands/],
  ];

  it("names what is permitted", () => {
    const list = { on: true, allowed: ["ls", "git"] };
    expect(safeModeRefusal(list, read("ls; make"))).toBe('"make" is not on the list of safe mode. It permits: ls git');
    expect(safeModeRefusal(list, read("$TOOL x"))).toBe(
      'Safe mode cannot tell which program "$TOOL x" runs. It permits: ls git',
    );
    expect(safeModeRefusal({ on: true, allowed: [] }, read("ls"))).toMatch(/It permits no program\.$/);
  });

  it.each(runs)("not %j", (text) => {
    expect(safeModeRefusal(state, read(text))).toBeUndefined();
  });

  it.each(refused)("%j", (text, says) => {
    expect(safeModeRefusal(state, read(text))).toMatch(says);
    expect(safeModeRefusal({ ...state, on: false }, read(text))).toBeUndefined();
  });

  it("nothing of its own list, by default", () => {
    for (const name of DEFAULT_SAFE_COMMANDS) {
      expect(safeModeRefusal({ ...SAFE_MODE_OFF, on: true }, read(name))).toBeUndefined();
    }
  });
});

describe("/safemode", () => {
  let folder: string;
  const file = () => safeModeFile(join(folder, "state", "safe-mode.json"));
  const say = (args: string) => slashLine(...safeModeCommands(async () => file()))(`safemode ${args}`);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "oxbow-safe-mode-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("is off at first, and stays as it was left", async () => {
    expect(await say("")).toMatchObject({ ok: true, text: expect.stringContaining("Safe mode is off.") });
    expect((await say("on")).text).toContain("Safe mode is on.");
    expect((await say("status")).text).toContain("Safe mode is on.");
    expect(await file().load()).toEqual({ on: true, allowed: DEFAULT_SAFE_COMMANDS });
    expect((await say("off")).text).toContain("Safe mode is off.");
  });

  it("puts commands on the list and takes them off", async () => {
    expect((await say("allow make")).text).toBe(
      "Safe mode allows make. Note: make runs other programs, and safe mode cannot see which. Safe mode itself is off.",
    );
    expect((await file().load()).allowed).toContain("make");
    expect((await say("deny make")).text).toBe("Safe mode no longer allows make. Safe mode itself is off.");
    expect((await say("deny make")).text).toBe("make was not on the list of safe mode.");
    await say("on");
    await say("deny ls");
    await say("reset");
    expect(await file().load()).toEqual({ on: false, allowed: DEFAULT_SAFE_COMMANDS });
  });

  it.each(["what", "on now", "allow", "allow a b", "constructor"])("explains itself for %j", async (args) => {
    expect(await say(args)).toMatchObject({ ok: false, text: expect.stringContaining("/safemode") });
  });

  it("takes names of programs only", async () => {
    expect(await say("allow ls;rm")).toMatchObject({ ok: false, text: expect.stringContaining("is not the name") });
  });

  it("keeps several changes at once, and keeps the file to its owner", async () => {
    const shared = file();
    await Promise.all(["a", "b", "c"].map((name) => changeSafeMode("allow", name, shared)));
    expect(shared.current.allowed).toEqual(expect.arrayContaining(["a", "b", "c"]));
    if (process.platform !== "win32") expect((await stat(shared.path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(shared.path, "utf8"))).toMatchObject({ schema_version: 1, on: false });
  });

  it.each([
    "{",
    "[]",
    "7",
    '{"schema_version":2}',
    '{"schema_version":1,"on":"yes","allowed":[]}',
    '{"schema_version":1,"on":true}',
  ])("does not take a damaged file (%s) for an empty one", async (text) => {
    await say("on");
    await writeFile(file().path, text);
    await expect(say("status")).rejects.toThrow(StateFileError);
    await expect(say("status")).rejects.toThrow(/is damaged: .* Repair it, or remove it/);
    await expect(say("off")).rejects.toThrow(StateFileError);
  });
});
