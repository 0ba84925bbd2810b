import { execFileSync } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { describe, expect } from "vitest";
import { temporaryFolder } from "../../../test/support/program.js";
import { verifies } from "../../../test/verifies.js";
import { clientFiles } from "./client-files.js";

describe("the files of the terminal client", () => {
  verifies(["U3", "P13"], "reads texts only, and never waits for a pipe", async () => {
    const folder = await temporaryFolder();
    const { read } = clientFiles({ OXBOW_HOME: folder });
    await writeFile(join(folder, "a.txt"), "one\n");
    await writeFile(join(folder, "b.bin"), Buffer.from([1, 0, 2]));
    await writeFile(join(folder, "long"), "x".repeat(3_000_000));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(await read("a.txt", folder)).toEqual({ exists: true, content: "one\n" });
    for (const name of ["b.bin", "long", "pipe", "."]) expect(await read(name, folder)).toEqual({ exists: true });
    expect(await read("missing", folder)).toEqual({ exists: false });
  });

  verifies(["U2"], "gives a file the address of the person's editor, or one of this machine", () => {
    const at = (variables: Record<string, string>) => clientFiles(variables).urlOf("a b;\u001b.ts", "/project");
    expect(at({ EDITOR: "/usr/bin/code --wait" })).toBe("vscode://file/project/a%20b;%1B.ts");
    expect(at({ VISUAL: "zed", EDITOR: "vim" })).toBe("zed://file/project/a%20b;%1B.ts");
    expect(at({ EDITOR: "vim" })).toBe(`file://${hostname().toLowerCase()}/project/a%20b;%1B.ts`);
  });

  verifies(["U3"], "saves for the user alone, under a harmless name, and replaces nothing", async () => {
    const folder = await temporaryFolder();
    const { save } = clientFiles({ OXBOW_HOME: folder });
    const first = save("../../\u001b[2Ja b.ts", "one");
    const second = save("../../\u001b[2Ja b.ts", "two");
    expect([basename(first), basename(second)]).toEqual(["__..___2Ja_b.ts", "2-__..___2Ja_b.ts"]);
    expect(first.startsWith(join(folder, "state", "reviews"))).toBe(true);
    expect([await readFile(first, "utf8"), await readFile(second, "utf8")]).toEqual(["one", "two"]);
    expect((await stat(first)).mode & 0o777).toBe(0o600);
    expect(basename(save("..", "three"))).toBe("_");
    expect(basename(save("é".repeat(200), "four")).length).toBeLessThanOrEqual(60);
  });
});
