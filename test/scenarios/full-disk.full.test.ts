/** Commands whose changes do not fit: on the workspace's disk, in its table of names, or on the disk of Oxbow itself. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { verifies } from "../verifies.js";

let base: string;
let auto: Awaited<ReturnType<typeof openAutoMode>> | undefined;
const mounted: string[] = [];

const mount = (name: string, options: string) => {
  const place = join(base, name);
  mkdirSync(place, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", place]);
  mounted.push(place);
};

beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/full-disk-"));
});
afterEach(async () => {
  await auto?.close();
  for (const place of mounted.splice(0)) execFileSync("umount", [place]);
  rmSync(base, { recursive: true, force: true });
});

async function open() {
  const root = join(base, "disk/project");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "old"), "old");
  writeFileSync(join(root, "gone"), "here");
  auto = await openAutoMode({ root, home: join(base, "home"), ownFolder: join(base, "own/oxbow") });
  const { runWith } = auto;
  const files = () => readdirSync(root).map((name) => `${name} ${readFileSync(join(root, name), "utf8").slice(0, 4)}`);
  return { run: async (command: string) => (await runWith(command)).output, files };
}

const BEFORE = ["gone here", "old old"];

needs("sandbox", "root").describe("a disk that is full", () => {
  verifies(["P18", "S14"], "changes nothing where the files of a command do not fit, and says so", async () => {
    mount("disk", "size=2m");
    const { run, files } = await open();
    const said = await run("rm gone; for i in 1 2 3; do head -c 900000 /dev/zero > big$i; done; echo new > old");
    expect(said).toMatch(/not applied: the disk of .* is full: \d+ bytes are missing/);
    expect(files()).toEqual(BEFORE);
    expect(await run("rm gone; echo new > old")).toContain("[changed: ");
    expect(files()).toEqual(["old new\n"]);
  });

  verifies(["P18", "S14"], "changes nothing where its names do not fit", async () => {
    mount("disk", "nr_inodes=40");
    const { run, files } = await open();
    expect(await run("rm gone; touch $(seq 50)")).toMatch(/not applied: .* no room for 51 more names/);
    expect(files()).toEqual(BEFORE);
  });

  verifies(["P18", "S14"], "changes nothing where Oxbow cannot write the plan, and goes on afterwards", async () => {
    mount("own", "size=3m");
    const { run, files } = await open();
    expect(await run("rm gone; head -c 9000000 /dev/zero > big; echo new > old")).toMatch(
      /not applied: .*disk is full/,
    );
    expect(files()).toEqual(BEFORE);
    expect(await run("rm gone")).toContain("[changed: -gone]");
    expect(files()).toEqual(["old old"]);
  });
});
