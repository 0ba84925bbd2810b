import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../test/support/waiting.js";
import { readGivenFile, readGivenFileSync } from "./given-file.js";

let folder: string;
let pipe: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "given-file-"));
  pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that has the pipe open, and writes after a while. */
const write = (script: string) => spawn("bash", ["-c", script, "writer", pipe], { stdio: "ignore" });

describe("[U1] a file that the user names", () => {
  it("may be a named pipe with a writer, also with a slow one", async () => {
    const size = 300_000;
    const child = write(`exec > "$1"; sleep 0.1; head -c ${size} /dev/zero; sleep 0.1; printf end`);
    const bytes = await readGivenFile(pipe);
    expect([bytes.length, bytes.subarray(-3).toString()]).toEqual([size + 3, "end"]);
    expect(child.exitCode ?? 0).toBe(0);
    write('printf fine > "$1"');
    expect(readGivenFileSync(pipe).toString()).toBe("fine");
  });

  it("is refused if it is a named pipe that no program writes to", async () => {
    const message = `${pipe} is a named pipe, and no program writes to it.`;
    await expect(readGivenFile(pipe, { writerMs: 30 })).rejects.toThrow(message);
    expect(() => readGivenFileSync(pipe, { writerMs: 30 })).toThrow(message);
  });

  it("may be a pipe of a shell, also an empty one", async () => {
    const shell = spawn("bash", ["-c", "exec 3< <(printf a) 4< <(true) 5< <(sleep 0.1; printf b); exec sleep 60"]);
    try {
      const at = (descriptor: number) => `/proc/${shell.pid}/fd/${descriptor}`;
      await until(
        () => existsSync(`/proc/${shell.pid}/comm`) && readFileSync(`/proc/${shell.pid}/comm`, "utf8") === "sleep\n",
      );
      const texts = [
        readGivenFileSync(at(4)),
        readGivenFileSync(at(3)),
        await readGivenFile(at(5)),
        readGivenFileSync("/dev/null"),
      ];
      expect(texts.map(String)).toEqual(["", "a", "b", ""]);
    } finally {
      shell.kill("SIGKILL");
    }
  });

  it("is read up to a limit", async () => {
    const most = 100_000;
    expect((await readGivenFile("/dev/zero", { most })).length).toBeLessThan(2 * most);
    await expect(readGivenFile(folder)).rejects.toMatchObject({ code: "EISDIR" });
  });
});
