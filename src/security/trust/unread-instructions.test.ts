import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { RUN_FLAGS } from "../../cli/commands/run-flags.js";
import { parseFlags } from "../../feature/flags.js";
import { loadSettings } from "../../runtime/settings/settings.js";
import { unreadInstructions } from "./unread-instructions.js";

verifies(
  ["X1"],
  "a folder with instructions of another tool that are not read gets a hint how to read them",
  async () => {
    const base = mkdtempSync(join(tmpdir(), "unread-"));
    try {
      const root = join(base, "project");
      mkdirSync(join(base, "home/config"), { recursive: true });
      mkdirSync(root);
      const load = () => loadSettings(parseFlags(RUN_FLAGS, [], "run"), { OXBOW_HOME: join(base, "home"), HOME: base });
      expect(unreadInstructions(await load(), root)).toBeUndefined();
      writeFileSync(join(root, "CLAUDE.md"), "Use tabs.");
      expect(unreadInstructions(await load(), root)).toBeUndefined();
      mkdirSync(join(root, ".claude"));
      renameSync(join(root, "CLAUDE.md"), join(root, ".claude/CLAUDE.md"));
      expect(unreadInstructions(await load(), root)).toBeUndefined();
      writeFileSync(join(root, "GEMINI.md"), "Use blanks.");
      expect(unreadInstructions(await load(), root)).toMatch(
        /^GEMINI\.md is not read here\. .*context_sources = \["AGENTS\.md \| CLAUDE\.md \| \.claude\/CLAUDE\.md", "GEMINI\.md"\] into .*config\.toml\.$/,
      );
      rmSync(join(root, "GEMINI.md"));
      writeFileSync(join(base, "home/config/config.toml"), 'context_sources = ["AGENTS.md"]\n');
      expect(unreadInstructions(await load(), root)).toBeUndefined();
      writeFileSync(join(base, "home/config/config.toml"), "");
      rmSync(join(root, ".claude"), { recursive: true });
      writeFileSync(join(root, "AGENTS.md"), "Use tabs.");
      expect(unreadInstructions(await load(), root)).toBeUndefined();
      writeFileSync(join(root, "CLAUDE.md"), "See @AGENTS.md.");
      expect(unreadInstructions(await load(), root)).toBeUndefined();
      writeFileSync(join(root, "CLAUDE.md"), "Use blanks.");
      expect(unreadInstructions(await load(), root)).toMatch(
        /^CLAUDE\.md is not read here\. .*context_sources = \["AGENTS\.md", "CLAUDE\.md"\] into /,
      );
      rmSync(join(root, "CLAUDE.md"));
      symlinkSync("AGENTS.md", join(root, "CLAUDE.md"));
      expect(unreadInstructions(await load(), root)).toBeUndefined();
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
);
