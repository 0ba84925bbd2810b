import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { systemClock } from "../../base/clock.js";
import { CredentialFile } from "./credential-file.js";
import { findCredentialKey, type KeyPlaces } from "./credential-key.js";
import type { ApiKeyEntry } from "./entry.js";

let folder: string;
let places: KeyPlaces;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-creds-"));
  places = {
    path: join(folder, "config", "creds.enc"),
    folder: join(folder, "data"),
    choice: "file",
    keychain: { path: "", platform: process.platform, avoid: folder },
  };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function openFile(more: Partial<KeyPlaces> = {}): CredentialFile {
  const all = { ...places, ...more };
  return new CredentialFile({ path: all.path, clock: systemClock, key: () => findCredentialKey(all) });
}

function entry(provider: string, account = "default"): ApiKeyEntry {
  const endpoint = { baseUrl: "https://models.example", headers: { "x-api-key": "{secret}" } };
  return { kind: "api_key", provider, account, endpoint, addedAt: 1, key: ["some", provider, "words"].join("-") };
}

describe("the credential file", () => {
  verifies(["M11"], "keeps entries by provider and account, for the user alone", async () => {
    const file = openFile();
    expect(await file.read()).toEqual([]);
    expect(await file.put(entry("one"))).toBe("added");
    expect(await file.put(entry("one", "work"))).toBe("added");
    expect(await file.put({ ...entry("one"), addedAt: 2 })).toBe("replaced");
    expect((await openFile().read()).map(({ account, addedAt }) => [account, addedAt])).toEqual([
      ["work", 1],
      ["default", 2],
    ]);
    expect(await file.remove({ provider: "one", account: "work" })).toBe(true);
    expect(await file.remove({ provider: "one", account: "work" })).toBe(false);
    expect((await stat(places.path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "config"))).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, "data", "creds.key"))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, "config"))).toEqual(["creds.enc"]);
  });

  verifies(["M11"], "loses nothing when many change it at once", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => openFile().put(entry(name))));
    expect((await openFile().read()).map(({ provider }) => provider).sort()).toEqual([...names].sort());
  });

  verifies(["M11"], "is not changed with another key", async () => {
    const machineKey = "ab".repeat(32);
    await openFile({ machineKey }).put(entry("one"));
    const before = await readFile(places.path);
    const wrong = openFile({ machineKey: "cd".repeat(32) });
    await expect(wrong.read()).rejects.toMatchObject({ code: "wrong-key" });
    await expect(wrong.put(entry("two"))).rejects.toMatchObject({ code: "wrong-key" });
    await expect(openFile().put(entry("two"))).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining("OXBOW_MACHINE_KEY, which is not set"),
    });
    await expect(openFile({ machineKey: "too short" }).put(entry("two"))).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(await readFile(places.path)).toEqual(before);
    expect(await readdir(join(folder, "config"))).toEqual(["creds.enc"]);
  });

  verifies(["M11"], "opens with its original key, whatever else has been set since", async () => {
    await openFile().put(entry("one"));
    const later = openFile({ machineKey: "ab".repeat(32), passphrase: "words" });
    expect(await later.read()).toHaveLength(1);
  });

  verifies(["M11"], "asks for its passphrase, and takes no other", async () => {
    // The least that a salt file may ask for, because the usual takes half a second each time.
    await mkdir(places.folder);
    const salt = JSON.stringify({ kdf: "scrypt", cost: 2 ** 15, salt: "5a".repeat(32) });
    await writeFile(join(places.folder, "creds.salt"), salt);
    await openFile({ passphrase: "correct horse" }).put(entry("one"));
    expect(await openFile({ passphrase: "correct horse" }).read()).toHaveLength(1);
    await expect(openFile({ passphrase: "other horse" }).read()).rejects.toMatchObject({ code: "wrong-key" });
    await expect(openFile().read()).rejects.toMatchObject({ code: "locked" });
  });

  it("reports a missing key file instead of making another", async () => {
    await openFile().put(entry("one"));
    await rm(join(folder, "data", "creds.key"));
    await expect(openFile().read()).rejects.toMatchObject({
      code: "wrong-key",
      message: expect.stringContaining("credential file was made with"),
    });
  });

  it("that is damaged is not written over", async () => {
    await openFile().put(entry("one"));
    await writeFile(places.path, "something else");
    await expect(openFile().put(entry("two"))).rejects.toMatchObject({ code: "damaged" });
    expect(await readFile(places.path, "utf8")).toBe("something else");
  });

  it("says why it cannot be written", async () => {
    await writeFile(join(folder, "config"), "in the way");
    await expect(openFile().put(entry("two"))).rejects.toMatchObject({ code: "unavailable" });
  });
});
