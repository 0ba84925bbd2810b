import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect } from "vitest";
import { verifies } from "../../test/verifies.js";
import { resolveKey } from "./key.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keychain-"));
  await mkdir(join(folder, "bin"));
  await mkdir(join(folder, "data"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Keeps one entry in a file and its arguments in another, with the real program's manners: no entry is exit 1 and no word. */
const SECRET_TOOL = `#!/bin/sh
dir=$(dirname "$0")
echo "$*" >> "$dir/args"
case "$1" in
  lookup) [ -f "$dir/locked" ] && { echo "Cannot autolaunch D-Bus" >&2; exit 1; }; cat "$dir/entry" 2>/dev/null || exit 1 ;;
  store) cat > "$dir/entry" ;;
esac
`;

async function install(name: string, script: string): Promise<void> {
  await writeFile(join(folder, "bin", name), script);
  await chmod(join(folder, "bin", name), 0o755);
}

function resolveHere(platform: NodeJS.Platform = "linux", more: { readonly when?: "new" } = {}) {
  const data = join(folder, "data");
  const path = `${join(folder, "bin")}:/usr/bin:/bin`;
  return resolveKey({
    folder: data,
    database: join(data, "sessions.db"),
    keychain: { path, platform, avoid: data, ...more },
  });
}

describe("the key in the keychain", () => {
  verifies(["S1"], "is made once, found again, and never an argument", async () => {
    await install("secret-tool", SECRET_TOOL);
    const first = await resolveHere();
    expect(first).toMatchObject({ from: "keychain", created: "in the keychain" });
    const again = await resolveHere();
    expect(again.key).toEqual(first.key);
    expect(again.created).toBeUndefined();
    const args = await readFile(join(folder, "bin", "args"), "utf8");
    expect(args).toContain("lookup service oxbow-sessions account");
    expect(args).not.toContain(Buffer.from(first.key).toString("hex"));
  });

  verifies(["S1"], "takes over the key file of the database that is there", async () => {
    const { key } = await resolveKey({ folder: join(folder, "data"), database: join(folder, "data", "sessions.db") });
    await writeFile(join(folder, "data", "sessions.db"), "content");
    await install("secret-tool", SECRET_TOOL);
    // The plain copy stays until the user moves it away.
    const leftover = join(folder, "data", "sessions.key");
    expect(await resolveHere()).toMatchObject({ key, leftover, created: expect.stringContaining(leftover) });
    expect(await resolveHere()).toEqual({ key, from: "keychain", leftover });
    await rm(leftover);
    expect(await resolveHere()).toEqual({ key, from: "keychain" });
  });

  verifies(
    ["S1"],
    "is by default only for a new key: a key file that is there stays, and no keychain is asked",
    async () => {
      await install("secret-tool", SECRET_TOOL);
      expect(await resolveHere("linux", { when: "new" })).toMatchObject({ from: "keychain" });
      expect(await readdir(join(folder, "data"))).toEqual([]);
      for (const name of ["entry", "args"]) await rm(join(folder, "bin", name));
      const { key } = await resolveKey({ folder: join(folder, "data"), database: join(folder, "data", "sessions.db") });
      expect(await resolveHere("linux", { when: "new" })).toMatchObject({ from: "key-file", key });
      expect((await readdir(join(folder, "bin"))).toSorted()).toEqual(["secret-tool"]);
    },
  );

  verifies(["S1"], "is not created for a database that another key opens", async () => {
    await writeFile(join(folder, "data", "sessions.db"), "content");
    await install("secret-tool", SECRET_TOOL);
    await expect(resolveHere()).rejects.toMatchObject({ code: "wrong-key" });
    await expect(readFile(join(folder, "bin", "entry"))).rejects.toThrow("ENOENT");
  });

  verifies(
    ["S1"],
    "is in the file where no keychain answers, says why, and stays the same when one answers later",
    async () => {
      const first = await resolveHere();
      expect(first).toMatchObject({ from: "key-file", instead: expect.stringContaining("secret-tool") });
      await writeFile(join(folder, "data", "sessions.db"), "content");
      await install("secret-tool", SECRET_TOOL);
      await writeFile(join(folder, "bin", "locked"), "");
      const locked = await resolveHere();
      expect(locked).toMatchObject({ key: first.key, instead: expect.stringContaining("Cannot autolaunch D-Bus") });
      await rm(join(folder, "bin", "locked"));
      await writeFile(join(folder, "bin", "entry"), "0f".repeat(32));
      expect(await resolveHere()).toMatchObject({ key: first.key, from: "keychain" });
      expect(await readFile(join(folder, "bin", "entry"), "utf8")).toBe(Buffer.from(first.key).toString("hex"));
    },
  );

  verifies(["S1"], "is asked for when the keychain that alone has it does not answer", async () => {
    await install("secret-tool", SECRET_TOOL);
    await resolveHere();
    await writeFile(join(folder, "data", "sessions.db"), "content");
    await writeFile(join(folder, "bin", "locked"), "");
    await expect(resolveHere()).rejects.toThrow("Cannot autolaunch D-Bus");
  });

  verifies(["S1"], "reaches the credential store of Windows through a pipe", async () => {
    const powershell = `#!/bin/sh
dir=$(dirname "$0")
echo "$*" >> "$dir/args"
case "$*" in
  *Retrieve*) [ -f "$dir/entry" ] || exit 1; cat "$dir/entry" ;;
  *Add*) read -r line; printf %s "$line" > "$dir/entry" ;;
esac
`;
    await install("powershell.exe", powershell);
    const first = await resolveHere("win32");
    expect(first.from).toBe("keychain");
    expect((await resolveHere("win32")).key).toEqual(first.key);
    const args = await readFile(join(folder, "bin", "args"), "utf8");
    expect(args).toContain("Retrieve('oxbow-sessions', '");
    expect(args).not.toContain(Buffer.from(first.key).toString("hex"));
  });

  verifies(["S1"], "reaches macOS's program through a pipe", async () => {
    const security = `#!/bin/sh
dir=$(dirname "$0")
echo "$*" >> "$dir/args"
case "$1" in
  find-generic-password) [ -f "$dir/entry" ] || { echo "The specified item could not be found in the keychain." >&2; exit 44; }; cat "$dir/entry" ;;
  -i) read -r line; echo "\${line##* }" > "$dir/entry" ;;
esac
`;
    await install("security", security);
    const { key } = await resolveHere("darwin");
    expect((await resolveHere("darwin")).key).toEqual(key);
    expect(await readFile(join(folder, "bin", "args"), "utf8")).not.toContain(Buffer.from(key).toString("hex"));
  });
});
