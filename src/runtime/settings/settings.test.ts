import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseFlags } from "../../feature/flags.js";
import { loadSettings } from "./settings.js";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "oxbow-settings-"));
});
afterEach(() => rmSync(home, { recursive: true }));

async function load(profile: string, variables: Readonly<Record<string, string>> = {}) {
  const path = join(home, "config.toml");
  writeFileSync(path, profile);
  return loadSettings(parseFlags([], [], ""), { OXBOW_HOME: home, OXBOW_PROFILE: path, ...variables });
}

describe("settings", () => {
  it("know the keys of all subjects, and suggest the nearest one", async () => {
    const known = [
      "schema_version = 1",
      'model = "anthropic:some"',
      'retry_wait = "1s"',
      'timeout = "1m"',
      "retention_days = 3",
      'credential_idle = "1m"',
      'no_proxy = "a"',
      'spinner = "plain"',
      'local_idle = "off"',
    ];
    const { settings, warnings } = await load([...known, 'retry_wait_ms = "1s"', "retension_days = 4"].join("\n"));
    expect(warnings.map((line) => line.replace(/^.*: /, ""))).toEqual([
      'unknown key "retry_wait_ms" is ignored.',
      'unknown key "retension_days" is ignored. Did you mean "retention_days"?',
    ]);
    expect(settings.retry_wait).toMatchObject({ value: 1000, origin: expect.stringContaining("(retry_wait)") });
    expect(settings.local_idle).toMatchObject({ value: undefined, origin: expect.stringContaining("(local_idle)") });
  });

  it("take the environment before the profile, and the profile before the default", async () => {
    const profile = 'model = "of-the-profile"\nprovider = "of-the-profile"\n';
    const { settings } = await load(profile, { OXBOW_MODEL: "of-the-environment" });
    expect(settings.model).toEqual({ value: "of-the-environment", origin: "OXBOW_MODEL" });
    expect(settings.provider.value).toBe("of-the-profile");
    expect(settings.retention_days).toEqual({ value: 30, origin: "default" });
  });

  it("name the key whose value is wrong", async () => {
    await expect(load('retention_days = "some"')).rejects.toThrow(/config\.toml \(retention_days\): expected/);
    await expect(load("providers = 3")).rejects.toThrow(/\(providers\): expected tables such as \[providers\.NAME\]/);
    await expect(load("models = 3")).rejects.toThrow(/\(models\): /);
    await expect(load("", { OXBOW_MODEL: ":some" })).rejects.toThrow(/OXBOW_MODEL: expected NAME or PROVIDER:NAME/);
    await expect(load('model = ""')).rejects.toThrow(/\(model\): expected NAME/);
    await expect(load('provider = " "')).rejects.toThrow(/\(provider\): expected the name/);
  });
});
