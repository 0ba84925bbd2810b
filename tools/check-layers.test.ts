import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { checkLayers, formatViolation, readModules } from "./check-layers/check.mjs";
import { findCycles } from "./check-layers/cycles.mjs";
import { loneFiles } from "./check-layers/homes.mjs";
import { findImports } from "./check-layers/imports.mjs";
import { RUNTIME_OF_ONE } from "./check-layers/layers.mjs";
import { tokenize } from "./check-layers/tokens.mjs";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A tree with these files below src. */
function plant(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "oxbow-layers-"));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, "src", name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return root;
}

/** `file:line rule` of each violation. */
function check(files: Record<string, string>): string[] {
  return checkLayers(plant(files)).map(({ file, line, rule }) => `${file}:${line} ${rule}`);
}

const CLEAN = {
  "text-modules.d.ts": 'declare module "*.md" { const text: string; export default text; }',
  "protocol/events.ts": "export const KINDS = [];",
  "base/clock.ts": 'import { KINDS } from "../protocol/events.js"; export const clock = KINDS;',
  "system/toml.ts":
    'import { readFileSync } from "node:fs"; import { parse } from "a-toml-package/deep"; export { clock } from "../base/clock.js";',
  "engine/ports.ts": 'import type { Clock } from "../base/clock.js"; export interface Tool { clock: Clock }',
  "engine/loop.ts": 'import { other } from "./ports.js"; export const loop = other;',
  "providers/wire.ts":
    'import type { Tool } from "../engine/ports.js"; import "../system/toml.js"; import { get } from "node:http";',
  "tools/workspace.ts": 'import { readFile } from "node:fs/promises";',
  "tools/read-state.ts": 'import type { Stats } from "node:fs";',
  "tools/read.ts":
    'import { workspace } from "./workspace.js"; import text from "./read.md"; import prompt from "../../assets/prompt.md";',
  "chain/tool/10-x.ts":
    'import "../../tools/read.js"; import "../../providers/wire.js"; import { loop } from "../../engine/loop.js";',
  "commands/model.ts": 'import "../base/clock.js";',
  "control/host.ts":
    'import { loop } from "../engine/loop.js"; import "../system/toml.js"; import { createServer } from "node:http";',
  "clients/sdk/client.ts": 'import "../../protocol/events.js"; import "../../base/clock.js";',
  "clients/tui/screen.ts": 'import "../sdk/client.js"; import { ReadStream } from "node:tty";',
  "testkit/server.ts": 'import "../system/toml.js";',
  "main/env.ts": "export const environment = process.env;",
  "main/cli.ts":
    'import "../clients/tui/screen.js"; import "../testkit/server.js"; const load = () => import("../chain/tool/10-x.js");',
  "engine/loop.test.ts": 'import "../main/env.js"; import { readFileSync } from "node:fs"; process.env.X;',
};

describe("main", () => {
  it("is reported when it has more lines than wiring needs", () => {
    const large = "export const x = 1;\n".repeat(1501);
    expect(check({ ...CLEAN, "main/large.ts": large })).toEqual(["main/large.ts:1 too-large"]);
  });
});

describe("a clean tree", () => {
  it("has no violations", () => {
    expect(check(CLEAN)).toEqual([]);
  });
});

describe("the name of a tool", () => {
  const tool = 'export const T = { name: "web_look", set: "web", inputSchema: {} }; export const AGENT_TOOL = "agent";';
  const plant = (file: string, text: string) => check({ ...CLEAN, "tools/look.ts": tool, [file]: text });

  it("is for its own feature", () => {
    expect(plant("tools/other.ts", 'const x = "web_look";')).toEqual([]);
    expect(plant("tools/other.test.ts", 'const x = "web_look";')).toEqual([]);
    expect(plant("chain/a.ts", 'import { T } from "../tools/look.js"; T.name;')).toEqual([]);
    expect(plant("chain/a.ts", 'const x = "web_look";')).toEqual(["chain/a.ts:1 tool-name"]);
    expect(plant("clients/tui/a.ts", "const KINDS = { web_look: 1 };")).toEqual(["clients/tui/a.ts:1 tool-name"]);
  });

  it("may be an ordinary word, except where a tool is meant", () => {
    expect(plant("chain/a.ts", 'const identity = "agent";')).toEqual([]);
    for (const text of ['if (call.tool === "agent") {}', 'tools.find("agent")', 'call({ tool: "agent" })'])
      expect(plant("chain/a.ts", text), text).toEqual(["chain/a.ts:1 tool-name"]);
  });
});

describe("each rule fails on a planted violation", () => {
  const planted: [what: string, files: Record<string, string>, expected: string[]][] = [
    ["protocol imports nothing", { "protocol/a.ts": '\nimport "../base/clock.js";' }, ["protocol/a.ts:2 direction"]],
    ["base imports protocol only", { "base/a.ts": 'import "../system/toml.js";' }, ["base/a.ts:1 direction"]],
    ["engine does not import system", { "engine/a.ts": 'import "../system/toml.js";' }, ["engine/a.ts:1 direction"]],
    ["system does not import engine", { "system/a.ts": 'import "../engine/loop.js";' }, ["system/a.ts:1 direction"]],
    [
      "… nor its types",
      { "system/a.ts": 'import type { Tool } from "../engine/ports.js";' },
      ["system/a.ts:1 direction"],
    ],
    ["a feature imports no feature", { "context/a.ts": 'import "../tools/read.js";' }, ["context/a.ts:1 direction"]],
    ["… nor its types", { "context/a.ts": 'import type { A } from "../tools/read.js";' }, ["context/a.ts:1 direction"]],
    ["… nor lazily", { "context/a.ts": 'const a = await import("../tools/read.js");' }, ["context/a.ts:1 direction"]],
    ["… nor by export", { "context/a.ts": 'export * from "../tools/read.js";' }, ["context/a.ts:1 direction"]],
    [
      "a feature imports types of ports only",
      { "tools/a.ts": 'import { Tool } from "../engine/ports.js";' },
      ["tools/a.ts:1 types-only"],
    ],
    [
      "… also not as inline types, which leave an import",
      { "tools/a.ts": 'import { type Tool } from "../engine/ports.js";' },
      ["tools/a.ts:1 types-only"],
    ],
    [
      "… and no types of the rest of the engine",
      { "tools/a.ts": 'import type { L } from "../engine/loop.js";' },
      ["tools/a.ts:1 direction"],
    ],
    [
      "a feature does not import the chain",
      { "tools/a.ts": 'import "../chain/tool/10-x.js";' },
      ["tools/a.ts:1 direction"],
    ],
    ["chain does not import control", { "chain/a.ts": 'import "../control/host.js";' }, ["chain/a.ts:1 direction"]],
    ["control imports no feature", { "control/a.ts": 'import "../tools/read.js";' }, ["control/a.ts:1 direction"]],
    [
      "control imports no client",
      { "control/a.ts": 'import "../clients/tui/screen.js";' },
      ["control/a.ts:1 direction"],
    ],
    ["control imports no chain", { "control/a.ts": 'import "../chain/tool/10-x.js";' }, ["control/a.ts:1 direction"]],
    [
      "a client does not import the engine",
      { "clients/tui/a.ts": 'import "../../engine/loop.js";' },
      ["clients/tui/a.ts:1 direction"],
    ],
    [
      "a client does not import system",
      { "clients/tui/a.ts": 'import "../../system/toml.js";' },
      ["clients/tui/a.ts:1 direction"],
    ],
    [
      "a client does not import another",
      { "clients/web/a.ts": 'import "../tui/screen.js";' },
      ["clients/web/a.ts:1 direction"],
    ],
    ["testkit imports no feature", { "testkit/a.ts": 'import "../tools/read.js";' }, ["testkit/a.ts:1 direction"]],
    ["no layer imports main", { "commands/a.ts": 'import "../main/env.js";' }, ["commands/a.ts:1 direction"]],
    ["… nor its types", { "commands/a.ts": 'let a: import("../main/env.js").A;' }, ["commands/a.ts:1 direction"]],
    ["node modules in protocol", { "protocol/a.ts": 'import "node:fs";' }, ["protocol/a.ts:1 node-module"]],
    ["node modules in base", { "base/a.ts": 'import type { A } from "node:events";' }, ["base/a.ts:1 node-module"]],
    ["node modules in engine, without the prefix", { "engine/a.ts": 'import "path";' }, ["engine/a.ts:1 node-module"]],
    ["node modules in clients/sdk", { "clients/sdk/a.ts": 'import "node:net";' }, ["clients/sdk/a.ts:1 node-module"]],
    ["node modules in clients/web", { "clients/web/a.ts": 'require("node:net");' }, ["clients/web/a.ts:1 node-module"]],
    ["packages in the core", { "engine/a.ts": 'import "some-package";' }, ["engine/a.ts:1 third-party"]],
    ["files outside of src", { "tools/a.ts": 'import "../../test/x.js";' }, ["tools/a.ts:1 outside-src"]],
    ["the package by its own name", { "tools/a.ts": 'import "oxbow/protocol";' }, ["tools/a.ts:1 self-import"]],
    [
      "a file of runtime for one feature",
      { "runtime/a.ts": 'import "../tools/read.js"; import type { A } from "../tools/workspace.js";' },
      ["runtime/a.ts:1 one-feature"],
    ],
    [
      "a command of a feature that another folder names",
      { "tools/x/commands.ts": 'const C = { name: "x:add" };', "cli/a.ts": 'run("x:add", "y:add");' },
      ["cli/a.ts:1 foreign-command"],
    ],
    ["an unknown folder", { "helpers/a.ts": "" }, ["helpers/a.ts:1 unknown-layer"]],
    [
      "a file beside the folders",
      { "a.ts": "", "clients/a.ts": "" },
      ["a.ts:1 unknown-layer", "clients/a.ts:1 unknown-layer"],
    ],
    [
      "files opened beside the workspace",
      { "tools/a.ts": 'import { open } from "fs/promises";' },
      ["tools/a.ts:1 reserved-module"],
    ],
    ["… or through system", { "tools/a.ts": 'import "../system/atomic-file.js";' }, ["tools/a.ts:1 reserved-module"]],
  ];

  it.each(planted)("%s", (_, files, expected) => {
    expect(check({ ...CLEAN, ...files })).toEqual(expected);
  });
});

describe("the files of runtime that wait for their move", () => {
  it("are those in the list: a file that is gone, or joins two features, leaves it", () => {
    const lone = loneFiles(readModules(fileURLToPath(new URL("..", import.meta.url))));
    expect([...RUNTIME_OF_ONE].filter((file) => !lone.includes(file))).toEqual([]);
  });
});

describe("import cycles", () => {
  it("are found when they run at start, once for each group of files", () => {
    const files = {
      "base/a.ts": 'import "./b.js";',
      "base/b.ts": '\nexport { c } from "./c.js";',
      "base/c.ts": 'import { a } from "./a.js"; import "./b.js";',
      "base/self.ts": 'import "./self.js";',
    };
    expect(checkLayers(plant(files)).map(formatViolation)).toEqual([
      expect.stringMatching(/^src\/base\/a\.ts:1 cycle — base\/a\.ts → base\/b\.ts → base\/c\.ts → base\/a\.ts: /),
      expect.stringMatching(/^src\/base\/self\.ts:1 cycle — base\/self\.ts → base\/self\.ts: /),
    ]);
  });

  it("through types and lazy imports are none", () => {
    const files = {
      "base/a.ts": 'import "./b.js"; import "./c.js";',
      "base/b.ts": 'import type { A } from "./a.js"; export type { B } from "./a.js";',
      "base/c.ts": 'export const load = () => import("./a.js");',
    };
    expect(check(files)).toEqual([]);
  });

  it("of many files do not exhaust the stack", () => {
    const count = 20_000;
    const modules = Array.from({ length: count }, (_, index) => {
      const next = { specifier: `./m${(index + 1) % count}.js`, line: 1, when: "start" };
      return [`base/m${index}.ts`, { imports: [next] }] as const;
    });
    expect(findCycles(new Map(modules))).toMatchObject([{ file: "base/m0.ts", rule: "cycle" }]);
  });
});

describe("the environment", () => {
  it.each([
    "process.env.HOME",
    "process?.env",
    'process["env"]',
    'process?.["env"]',
    "globalThis.process.env",
    "const { env } = process;",
    "const { argv, env: e } = process;",
    "({ env } = process);",
    'import { env } from "node:process";',
    'import { env as e } from "process";',
    'import p from "node:process"; p.env;',
    'import * as p from "node:process"; p.env;',
    "const p = process; p.env;",
    "`${process.env.HOME}`",
    "`a ${`b ${process.env.HOME}`} c`",
  ])("is read in main/env.ts only: %s", (code) => {
    expect(check({ "system/a.ts": `\n${code}` })).toEqual(["system/a.ts:2 environment"]);
    expect(check({ "main/env.ts": `\n${code}` })).toEqual([]);
  });

  it.each([
    "// process.env",
    "/* process.env */",
    '"process.env"',
    "`process.env`",
    "/process.env/",
    "process.argv; const env = {}; env.HOME;",
    "child.process.env",
    "const { argv: [env] } = process;",
    "const { argv = { env } } = process;",
    "const { env } = process.report;",
    'import { argv } from "node:process";',
    "const environment = { env: 1 };",
  ])("is not read by %s", (code) => {
    expect(check({ "system/a.ts": code })).toEqual([]);
  });
});

describe("finding imports", () => {
  const found = (code: string) =>
    findImports(tokenize(code)).map(({ specifier, when, line }) => `${when} ${specifier} ${line}`);

  it.each([
    ['import "a";', ["start a 1"]],
    ['import a from "a";', ["start a 1"]],
    ['import a, { b as c, type D } from "a";', ["start a 1"]],
    ['import * as a from "a"', ["start a 1"]],
    ['import {\n  a,\n  from,\n  "odd name" as b,\n} from\n  "a";', ["start a 1"]],
    ['import type { A } from "a";', ["types a 1"]],
    ['import type A from "a";', ["types a 1"]],
    ['import type * as A from "a";', ["types a 1"]],
    ['import type from "a";', ["start a 1"]],
    ['import type, { a } from "a";', ["start a 1"]],
    ['import data from "./a.json" with { type: "json" };', ["start ./a.json 1"]],
    [
      'export * from "a"; export * as b from "b"; export { c, default as d } from "c";',
      ["start a 1", "start b 1", "start c 1"],
    ],
    ['export type { A } from "a"; export type * from "b";', ["types a 1", "types b 1"]],
    ['export { a };\nconst from = "b";\nexport const c = 1;\nexport default "d";', []],
    ["export type A = { from: string };\nexport * from `x`", ["start x 2"]],
    ['const a = await import("a");', ["call a 1"]],
    ['import("a").then((a) => a);', ["call a 1"]],
    ["import(`a`)", ["call a 1"]],
    ['import("a", { with: { type: "json" } })', ["call a 1"]],
    ["import(name); import.meta.url; import(`a${b}`);", []],
    ['let a: import("a").A; let b: typeof import("b");', ["types a 1", "types b 1"]],
    ['const a = require("a"); loader.require("b"); require(name);', ["call a 1"]],
    ['loader.import("a"); const a = { import: "b" };', []],
    ['// import "a"\n/* import "b"\n */ "import c"; `import "d"`; /import "e"/;\nimport "f";', ["start f 4"]],
    ['const a = b / c; import "d"; const e = f / "g";', ["start d 1"]],
    ['const a = x.replace(/["\'`]/g, ""); import "b";', ["start b 1"]],
    ['const a = /[/"]/; return /`/; import "b";', ["start b 1"]],
    ['const a = `${b ? `"${c}` : "}"} \\` ${{ d: "e" }.d}`; import "f";', ["start f 1"]],
    ["const a = `\n${`\n`}\n`;\nimport 'b';", ["start b 5"]],
    ['const a = "it\\"s \\\\"; import "b";', ["start b 1"]],
    ["<p>don't</p>;\nimport 'b';", ["start b 2"]],
    ['class A { #import = 1; constructor() {} }\nimport "b";', ["start b 2"]],
    ['#!/usr/bin/env node\nimport "a";', ["start a 2"]],
    ["import", []],
    ['import { a } from "a\\', ["start a\\ 1"]],
  ])("%j", (code, expected) => {
    expect(found(code)).toEqual(expected);
  });
});

describe("the command", () => {
  const run = (root: string) =>
    spawnSync(process.execPath, [fileURLToPath(new URL("./check-layers.mjs", import.meta.url)), "--root", root], {
      encoding: "utf8",
    });

  it("prints one line a violation, by file and line, and exits with 1", () => {
    const root = plant({
      "engine/b.ts": 'import "../system/x.js";',
      "engine/a.ts": 'process.env.A;\nimport "node:fs";',
    });
    const { status, stdout } = run(root);
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringMatching(
        /^src\/engine\/a\.ts:1 environment — the environment is read in src\/main\/env\.ts alone: /,
      ),
      expect.stringMatching(/^src\/engine\/a\.ts:2 node-module — engine has to run without Node \(node:fs\): /),
      expect.stringMatching(/^src\/engine\/b\.ts:1 direction — engine imports protocol, base, not system: /),
    ]);
    expect(status).toBe(1);
  });

  it("prints nothing and exits with 0 when all is well", () => {
    const { status, stdout, stderr } = run(plant(CLEAN));
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
  });
});

describe("the folders of src", () => {
  it("have sub-folders where one holds more than a fifth of the lines, and few lines beside those", () => {
    const source = fileURLToPath(new URL("../src", import.meta.url));
    const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
    const sizes = files.map((file) => ({
      path: file.split(sep),
      lines: readFileSync(join(source, file), "utf8").split("\n").length,
    }));
    const sum = (some: typeof sizes) => some.reduce((total, { lines }) => total + lines, 0);
    const fifth = sum(sizes) / 5;
    const tooFlat = [...new Set(sizes.map(({ path }) => path[0]))].filter((folder) => {
      const inside = sizes.filter(({ path }) => path[0] === folder);
      const flat = inside.filter(({ path }) => path.length === 2);
      return sum(inside) > fifth && sum(flat) > sum(inside) / 4;
    });
    expect(tooFlat).toEqual([]);
  });
});
