/** `load_instructions`: the instructions that the model gets in a folder if the user approves everything. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseFlags } from "../../feature/flags.js";
import { isJsonObject, type JsonObject } from "../../protocol/json.js";
import { ProjectContent } from "../../runtime/content/project-content.js";
import { loadSettings } from "../../runtime/settings/settings.js";

/** The files that a profile could list. */
const SOURCES = ["AGENTS.override.md", "AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md"];

export async function loadInstructions({ cwd, config }: JsonObject): Promise<JsonObject> {
  const { max_bytes, fallback_filenames, user_instructions } = isJsonObject(config) ? config : {};
  if (max_bytes === 0) return { text: null };
  const home = mkdtempSync(join(tmpdir(), "oxbow-adapter-"));
  try {
    const names = Array.isArray(fallback_filenames) ? fallback_filenames.map(String) : [];
    const profile = [`context_sources = ${JSON.stringify([...SOURCES, ...names])}`];
    if (typeof max_bytes === "number") profile.push(`context_bytes = ${max_bytes}`);
    const variables = { OXBOW_HOME: home };
    const { roots } = await loadSettings(parseFlags([], [], ""), variables);
    writeFileSync(join(home, "profile.toml"), `${profile.join("\n")}\n`);
    if (typeof user_instructions === "string") {
      mkdirSync(roots.config, { recursive: true });
      writeFileSync(join(roots.config, "AGENTS.md"), user_instructions);
    }
    const loaded = await loadSettings(parseFlags([], [], ""), {
      ...variables,
      OXBOW_PROFILE: join(home, "profile.toml"),
    });
    const content = await ProjectContent.enter({
      loaded,
      variables,
      root: realpathSync(String(cwd)),
      conversation: { show: () => {}, ask: async () => "y" },
      color: false,
      width: 80,
      skipUnapproved: false,
      allowProjectHooks: false,
      notify: () => {},
    });
    if ("failure" in content) return { text: null, error: content.failure.message };
    return { text: content.instructions === undefined ? null : inside(content.instructions) };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The texts without their delimiters. */
function inside(blocks: string): string {
  return [...blocks.matchAll(/^<approved-(\w+) [^>]*>\n([\s\S]*?)\n<\/approved-\1>$/gm)]
    .map(([, , text = ""]) => text)
    .join("\n\n");
}
