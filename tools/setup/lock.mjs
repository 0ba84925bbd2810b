/**
 * A lock between processes that outlives none of them.
 *
 * 1. The lock is a file made with O_EXCL that holds its owner; its owner touches it every second.
 * 2. It is stale when its owner is a process of this machine that has ended, or when it was not touched for as long as
 *    STALE_AFTER by the waiter's own clock (so a suspended machine or a skewed clock does not make it stale).
 * 3. A stale lock is moved aside before it is checked a second time, so that only one of two waiters takes it.
 */

import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { say } from "../entry.mjs";

const STALE_AFTER = 30_000;
const POLL_EVERY = 100;
const TOUCH_EVERY = 1_000;
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** Holds the lock while `work` runs, waiting first for another process that has it. */
export async function withLock({ path, work, now = () => performance.now() }) {
  const owner = JSON.stringify({ pid: process.pid, host: hostname(), since: Date.now() });
  await acquire(path, { owner, now });
  const release = () => {
    if (read(path)?.text === owner) rmSync(path, { force: true });
  };
  const touching = setInterval(() => touch(path), TOUCH_EVERY);
  const endedBy = (signal) => process.exit(SIGNALS[signal]);
  process.once("exit", release);
  for (const signal of Object.keys(SIGNALS)) process.on(signal, endedBy);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    for (const signal of Object.keys(SIGNALS)) process.off(signal, endedBy);
    process.off("exit", release);
    release();
  }
}

async function acquire(path, { owner, now }) {
  let seen;
  let told = false;
  for (;;) {
    if (create(path, owner)) return;
    const present = read(path);
    if (present === undefined) continue;
    if (seen?.mark !== present.mark) seen = { mark: present.mark, at: now() };
    if (ownerHasEnded(present.text) || now() - seen.at > STALE_AFTER) moveAside(path, present.mark);
    else {
      if (!told) say(`waiting for another set-up of this folder (${path})`);
      told = true;
      await delay(POLL_EVERY);
    }
  }
}

function create(path, owner) {
  try {
    writeFileSync(path, owner, { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    // On a full disk the file is there, without its owner.
    rmSync(path, { force: true });
    throw error;
  }
}

function moveAside(path, mark) {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (error.code === "ENOENT") return;
    throw error;
  }
  // Another waiter may have replaced the stale lock by its own between our check and our move: restore that one.
  if (read(aside)?.mark !== mark) {
    try {
      linkSync(aside, path);
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
  }
  rmSync(aside, { force: true });
}

function read(path) {
  try {
    const text = readFileSync(path, "utf8");
    return { text, mark: `${text} ${statSync(path).mtimeMs}` };
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function ownerHasEnded(text) {
  try {
    const { pid, host } = JSON.parse(text);
    if (host !== hostname()) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // After any other error (half-written text, a process of another user), only the time decides.
    return error.code === "ESRCH";
  }
}

function touch(path) {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // Another process removed it as stale. The work continues; release() checks whose lock it is.
  }
}
