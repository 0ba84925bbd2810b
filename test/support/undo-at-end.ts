/**
 * Undoes a change to the machine (a mount, a server) when the test ends. A process of its own does it, so that it also happens when the
 * tests are killed: its input ends with them.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { onTestFinished, type TestContext } from "vitest";
import { skipWithout } from "./needs.js";

/** Returns a function that does it now. */
export function undoAtEnd(...command: readonly string[]): () => Promise<void> {
  const child = spawn("sh", ["-c", 'cat > /dev/null; exec "$@"', "sh", ...command], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const ended = once(child, "close");
  const undo = async () => {
    child.stdin.end();
    await ended;
  };
  onTestFinished(undo);
  return undo;
}

export interface SmallDiskOptions {
  /** A folder that is not there yet. */
  readonly folder: string;
  /** As `256k`. */
  readonly size: string;
}

/** Runs `body` while a file system in memory is mounted on the folder. The test is skipped where that is not possible. */
export async function withSmallDisk(
  context: TestContext,
  { folder, size }: SmallDiskOptions,
  body: (resize: (size: string) => void) => Promise<void>,
): Promise<void> {
  skipWithout(context, "linux", "root");
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    context.skip(`needs the right to mount a file system: ${(error as Error).message.trim()}`);
  }
  const unmount = undoAtEnd("umount", "--lazy", folder);
  try {
    await body((larger) => execFileSync("mount", ["-o", `remount,size=${larger}`, folder]));
  } finally {
    await unmount();
  }
}
