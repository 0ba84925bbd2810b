/** The recipes of docs/contributing/adding.md, followed in a copy of the source: they name every place that a new thing touches. */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { reply, script, startMockModel } from "../src/testkit/index.js";
import { providerEnvironment } from "./support/program.js";

const COPIED = ["src", "assets", "tools", "docs", "package.json", "package-lock.json", "tsconfig.json"];
/** The compiler reads all of the source twice. */
const LIMIT_MS = 300_000;
const run = promisify(execFile);
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Edit {
  readonly file: string;
  /** The text before which the new one comes. */
  readonly before: string;
  readonly text: string;
}

class Copy {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-recipe-")));

  constructor() {
    folders.push(this.root);
    for (const name of COPIED) cpSync(name, join(this.root, name), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules"), join(this.root, "node_modules"));
    const config = JSON.parse(readFileSync("tsconfig.json", "utf8")) as { include: string[]; exclude?: string[] };
    const sources = { ...config, include: ["src"], exclude: ["**/*.test.ts", "**/test-support/**"] };
    writeFileSync(join(this.root, "tsconfig.json"), JSON.stringify(sources));
  }

  edit({ file, before, text }: Edit): void {
    const path = join(this.root, file);
    const source = readFileSync(path, "utf8");
    const at = source.indexOf(before);
    if (at === -1) throw new Error(`${file} has no "${before}"`);
    writeFileSync(path, source.slice(0, at) + text + source.slice(at));
  }

  /** The files that the compiler complains about. */
  async complaints(): Promise<readonly string[]> {
    const compiler = join(this.root, "node_modules/.bin/tsc");
    const { stdout } = await run(compiler, ["--noEmit"], { cwd: this.root }).catch(
      (error) => error as { stdout: string },
    );
    return [...new Set([...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file = ""]) => file))];
  }

  async oxbow(...args: readonly string[]): Promise<string> {
    return (await this.#oxbow(args)).stdout;
  }

  /** What it says on stderr. */
  async said(...args: readonly string[]): Promise<string> {
    return (await this.#oxbow(args)).stderr;
  }

  async oxbowWith(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
    return (await this.#oxbow(args, variables)).stdout;
  }

  #oxbow(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
    const env = { ...process.env, OXBOW_HOME: join(this.root, "home"), ...variables };
    return run(process.execPath, [join(this.root, "dist/bin.js"), ...args], { cwd: this.root, env });
  }
}

describe("a recipe", () => {
  it(
    "of an event kind has three files, and the compiler names those that are missing",
    async () => {
      const copy = new Copy();
      const edits: readonly Edit[] = [
        {
          file: "src/protocol/events.ts",
          before: "  CustomEvent: {",
          text: "  TideTurned: { readonly turn: TurnId; readonly text: string };\n",
        },
        {
          file: "src/protocol/event-fields.ts",
          before: "  CustomEvent: {",
          text: "  TideTurned: { turn, text: words },\n",
        },
        {
          file: "src/clients/tui/replay/notice-text.ts",
          before: '    case "CustomEvent": {',
          text: '    case "TideTurned":\n      return { title: "the tide turned", text: event.payload.text };\n',
        },
      ];
      const [type, ...others] = edits;
      copy.edit(type as Edit);
      expect([...(await copy.complaints())].sort()).toEqual(others.map(({ file }) => file).sort());
      for (const edit of others) copy.edit(edit);
      expect(await copy.complaints()).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    "of a command has one file, also for the shell",
    async () => {
      const copy = new Copy();
      copy.edit({
        file: "src/context/memory/commands.ts",
        before: '  {\n    name: "memory:log",',
        text: `  {
    name: "memory:count",
    summary: "say how many memories there are",
    shellFlags: [FOLDER],
    users: READERS,
    reaches: "user",
    places: EVERYWHERE,
    run: async (_args, { memories }) => {
      const { entries } = await memories.list();
      return { text: \`\${entries.length} memories\`, value: entries.length };
    },
  },
`,
      });
      await run(process.execPath, [join(copy.root, "tools/build.mjs")], { cwd: copy.root });
      expect(await copy.oxbow("memory", "count")).toBe("0 memories\n");
      expect(await copy.oxbow("memory", "count", "--json")).toBe("0\n");
      expect(await copy.oxbow("--run", scriptIn(copy, "/memory count\n"))).toContain("0 memories");
      expect(await copy.oxbow("memory", "--help")).toContain("say how many memories there are");
    },
    LIMIT_MS,
  );

  it(
    "of a setting with a flag and a variable has two files: its declaration and its use",
    async () => {
      const copy = new Copy();
      copy.edit({
        file: "src/context/memory/settings.ts",
        before: "  memory_tokens: setting({",
        text: `  memory_greeting: setting({
    about: "what memory says at the start",
    guide: "knowledge",
    holds: "engine",
    flag: { value: "TEXT", help: "what memory says at the start" },
    variable: { name: "OXBOW_GREETING", meaning: "what memory says at the start" },
    fallback: "",
    read: String,
  }),
`,
      });
      copy.edit({
        file: "src/context/memory/part.ts",
        before: "  let live: SessionMemory | undefined;",
        text: "  context.notify(settings.memory_greeting.value);\n",
      });
      await run(process.execPath, [join(copy.root, "tools/build.mjs")], { cwd: copy.root });
      const said = ["--provider", "offline", "--memory-greeting", "Ahoy!", "hello"];
      expect(await copy.said("run", ...said)).toContain("Ahoy!");
      expect(await copy.oxbow("config", "show", "--memory-greeting", "Ahoy!")).toMatch(
        /memory_greeting +Ahoy! +--memory/,
      );
      expect(await copy.oxbow("config", "keys", "--json")).toMatch(/"memory_greeting",[^}]*"holds": "engine"/);
      expect(await copy.oxbow("run", "--help")).toContain("--memory-greeting TEXT");
      expect(await copy.oxbow("help", "environment")).toContain("OXBOW_GREETING");
    },
    LIMIT_MS,
  );

  it(
    "of a tool has two files, and the model uses it",
    async () => {
      const copy = new Copy();
      writeFileSync(
        join(copy.root, "src/tools/count-lines.ts"),
        `import type { Tool } from "../engine/ports.js";
import { text } from "../protocol/content.js";
import { CATALOG } from "./catalog.js";
import type { Workspace } from "./workspace.js";

export function createCountLinesTool(workspace: Workspace): Tool {
  return {
    ...CATALOG.count_lines,
    async run({ path }) {
      const file = await workspace.readText(String(path), { purpose: "look" });
      return { status: "ok", content: [text(\`\${file.text.split("\\n").length - 1} lines\`)] };
    },
  };
}
`,
      );
      copy.edit({
        file: "src/tools/catalog.ts",
        before: '  todo: {\n    name: "todo",',
        text: `  count_lines: {
    name: "count_lines",
    kind: "read",
    habits: { names: ["wc"], parameters: { path: ["file_path"] } },
    description: "Counts the lines of a file.",
    set: "read",
    ...READS,
    inputSchema: { type: "object", properties: { path: string }, required: ["path"] },
    load: async (place: ToolPlace): Promise<Tool> =>
      (await import("./count-lines.js")).createCountLinesTool(await place.workspace()),
  },
`,
      });
      expect(await copy.complaints()).toEqual([]);
      await run(process.execPath, [join(copy.root, "tools/check-layers.mjs")], { cwd: copy.root });
      await run(process.execPath, [join(copy.root, "tools/build.mjs")], { cwd: copy.root });
      expect(await copy.oxbow("tools")).toMatch(/^count_lines .*Counts the lines of a file\./m);
      const model = await startMockModel({
        script: script([reply().tool("wc", { file_path: "package.json" }), reply().text("Done.")]),
      });
      try {
        const variables = providerEnvironment("anthropic", model.url);
        const events = await copy.oxbowWith(variables, "run", "--stream-events", "count");
        const lines = readFileSync(join(copy.root, "package.json"), "utf8").split("\n").length - 1;
        expect(events).toContain('"tool":"count_lines","tool_kind":"read","args":{"path":"package.json"}');
        expect(events).toContain(`${lines} lines`);
      } finally {
        await model.close();
      }
    },
    LIMIT_MS,
  );
});

function scriptIn({ root }: Copy, text: string): string {
  const path = join(root, "script.txt");
  writeFileSync(path, text);
  return path;
}
