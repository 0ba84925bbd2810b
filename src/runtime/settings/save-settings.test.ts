import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { saveSettings } from "./save-settings.js";

type Place = Parameters<typeof saveSettings>[0];

function place(text?: string, origin = "default") {
  const folder = mkdtempSync(join(tmpdir(), "oxbow-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const profilePath = join(folder, "config", "config.toml");
  const given = join(folder, "config.toml");
  if (text !== undefined) writeFileSync(given, text);
  const path = text === undefined ? profilePath : given;
  const settings = { model: { origin }, effort: { origin }, theme: { origin } } as unknown as Place["settings"];
  return { path, loaded: { profilePath: path, settings }, read: () => readFileSync(path, "utf8") };
}

describe("settings chosen in a conversation", () => {
  it("make the file, and say where it is", async () => {
    const { loaded, path, read } = place();
    expect(await saveSettings(loaded, { model: "zai:glm", effort: "high" })).toBe(`Saved for new sessions in ${path}.`);
    expect(read()).toBe('effort = "high"\nmodel = "zai:glm"\n');
  });

  it("replace their own line and leave all else alone", async () => {
    const text = '# mine\nmodel = "a:b" # old\ntheme = "dark"\n\n[ui]\nmodel = "no"\n';
    const { loaded, read } = place(text);
    await saveSettings(loaded, { model: "c:d" });
    expect(read()).toBe('# mine\nmodel = "c:d"\ntheme = "dark"\n\n[ui]\nmodel = "no"\n');
    await saveSettings(loaded, { effort: "low" });
    await saveSettings(loaded, { effort: null });
    expect(read()).toBe('# mine\nmodel = "c:d"\ntheme = "dark"\n\n[ui]\nmodel = "no"\n');
  });

  it("change nothing in a file that they could damage", async () => {
    for (const text of ['model = """\na:b"""\n', "broken = [\n"]) {
      const { loaded, read } = place(text);
      expect(await saveSettings(loaded, { model: "c:d" })).toMatch(/^Not saved: /);
      expect(read()).toBe(text);
    }
  });

  it("name what overrides them here", async () => {
    const { loaded } = place("", "OXBOW_MODEL");
    expect(await saveSettings(loaded, { model: "c:d" })).toContain("In this place OXBOW_MODEL overrides it.");
    expect(await saveSettings(place("", "--model").loaded, { model: "c:d" })).not.toContain("overrides");
    const own = place("");
    const loaded_ = place("", `${own.path} (model)`).loaded;
    expect(await saveSettings({ ...loaded_, profilePath: own.path }, { model: "c:d" })).not.toContain("overrides");
  });
});
