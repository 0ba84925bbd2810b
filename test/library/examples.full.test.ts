/** Every example of the README and the guides is run, or stands here with the reason why it cannot be. A new one is run. */
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { describe, expect, it, onTestFinished } from "vitest";
import { readFrontMatter } from "../../src/base/front-matter.js";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { readAliases } from "../../src/extensions/aliases/read-aliases.js";
import { defaultModelOf } from "../../src/providers/catalogue/newest.js";
import { NAMED_PROVIDERS } from "../../src/providers/named.js";
import { reply, script, startMockModel } from "../../src/testkit/index.js";
import { type Block, blocksOf, commandsOf } from "../support/page-examples.js";
import { BIN, oxbow, sampleKey, temporaryFolder } from "../support/program.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const GUIDES = (await Promise.all(["docs", "docs/design", "docs/contributing"].map(pagesIn))).flat();
const PAGES = ["README.md", ...GUIDES.sort()];

async function pagesIn(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder));
  return names.filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`);
}

/** Commands that are not run here. */
const NOT_RUN: readonly (readonly [command: RegExp, reason: string])[] = [
  [
    /^npm (start|test)\b/,
    "sets up the checkout that these tests run in (tools/setup.full.test.ts, tools/start.test.ts)",
  ],
  [
    /^(npm (pack|i -g)|ln -s|npx oxbow)\b/,
    "installs the program for its user (tools/setup.full.test.ts, test/e2e/install)",
  ],
  [/--audio\b/, "needs a model that takes audio (test/e2e/audio)"],
  [/^oxbow uninstall\b/, "removes the home that these tests use (test/e2e/install)"],
  [/^\w+=…/, "shows variables to choose from"],
  [
    /^oxbow auth set \w+( --account work)?$/,
    "asks a person for a key, or opens a browser (test/e2e/credentials, sign-in)",
  ],
  [/^oxbow( resume| --plain| --web)?$/, "is a conversation (test/e2e/line-client)"],
  [/^pass show /, "needs the program pass"],
  [/ --provider chatgpt /, "needs an account (test/e2e/sign-in)"],
  [/^oxbow auth remove /, "needs what the lines before it store"],
  [/^curl /, "needs a running server (test/library/documentation)"],
  [/^node tools\/bench\/retrieval/, "needs a checkout, a set of documents and a server of embeddings"],
  [/^oxbow web\b/, "serves until it is stopped (test/web)"],
  [/^oxbow serve\b/, "serves until it is stopped (test/e2e/serve)"],
  [/^oxbow mcp-server forget /, "needs a program that was allowed (src/cli/mcp-server)"],
  [/^oxbow mcp (auth|test) /, "needs a server on the network (test/engine/mcp)"],
  [/^oxbow ollama (start|pull)/, "starts and downloads programs (test/e2e/local-models)"],
  [/^oxbow mock-model --script/, "serves until it is stopped (src/testkit)"],
  [/^oxbow ack\b/, "asks a person (test/e2e/trust)"],
  [
    /^export OXBOW_APPROVED_LOCK=approved\.lock$/,
    "is for the lines after it (src/runtime/content/enter-place.test.ts)",
  ],
  [/^export SSL_CERT_FILE=/, "names a file of one's own network (test/e2e/proxies)"],
  [/^oxbow session import ~/, "needs a transcript of another program (test/e2e/session-commands)"],
  [/^echo '\{"messages"/, "needs the program of that page (src/providers/executable)"],
  [/^echo straw /, "is meant to fail (test/e2e/cassettes)"],
  [/^oxbow "tidy up the tests" --budget 0\.02$/, "is meant to fail (test/e2e/costs)"],
  [/^oxbow run --provider acme hello$/, "is meant to fail (src/providers/own-provider.test.ts)"],
  [/^oxbow --allow-project-hooks hello /, "needs the program of that page (test/engine/examples)"],
  [/^oxbow bench ollama:/, "measures models that are installed (test/e2e/bench)"],
  [/^oxbow models test ollama:weak/, "measures a model that is installed (test/e2e/local-models)"],
];

/** Commands that answer with another exit code than 0. */
const EXIT_CODES: readonly (readonly [command: RegExp, code: number])[] = [
  [/^oxbow permissions test "(git push|npm install)/, 4],
  // No engine runs.
  [/^oxbow status$/, 1],
  // No user is there to allow it.
  [/^oxbow session undo/, 2],
];

const DEFAULTS = NAMED_PROVIDERS.flatMap((provider) => defaultModelOf(provider) ?? []);
const MODELS = new Set([...DEFAULTS, "claude-sonnet-4-5", "gpt-5-mini", "openai/gpt-oss-120b", "qwen3", "qwen3:8b"]);

/** Fills in what a reader writes instead of a word. */
function filledIn(command: string, { session, other }: Scene): string {
  return command
    .replace(/^\.\/oxbow\b/, "oxbow")
    .replace(/\| \.\/oxbow\b/, "| oxbow")
    .replace(/sess_\w+/, session)
    .replace(/\bOTHER\b/, other)
    .replace("--from 3", "--from 1")
    .replace(/\b(ID|SESSION)\b/, session)
    .replace(/\[(--all|--turn [\d-]+|--turn N)\]/, (_whole, flag: string) => flag.replace(/3-5|N/, "1"))
    .replace('WORDS "a phrase"', 'hello "say hello"')
    .replace('"…"', '"say hello"');
}

interface Scene {
  run(command: string): Promise<{ readonly code: number | null; readonly output: string }>;
  readonly session: string;
  readonly other: string;
}

async function scene(): Promise<Scene> {
  const mock = await startMockModel({
    script: `${[...MODELS].map((name) => `model ${name}\n`).join("")}reply
  tool write {"path": "new.txt", "content": "new"}
reply times=any
  text: Hello.
  usage input=10 output=2
`,
  });
  onTestFinished(() => mock.close());
  const [home, outer, bin] = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
  const cwd = join(outer, "work");
  await mkdir(cwd);
  await writeFile(join(bin, "oxbow"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, { mode: 0o755 });
  await writeFile(join(cwd, "hay.txt"), "needle\n");
  await writeFile(join(cwd, "steps.txt"), "/status\n");
  await writeFile(join(cwd, "key"), sampleKey());
  // A picture of one point.
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  for (const name of ["mine.jsonl", "theirs.jsonl"]) await writeFile(join(cwd, name), '{"model":"m","messages":[]}\n');
  for (const name of ["shot.png", "before.png"]) await writeFile(join(cwd, name), Buffer.from(png, "base64"));
  const key = sampleKey();
  const own = `http://127.0.0.1:${new URL(mock.url).port}`;
  const env = {
    PATH: `${bin}:${process.env.PATH ?? ""}`,
    // As for a reader who has set no other variable.
    HOME: home,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: own,
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `${own}/v1`,
    OPENROUTER_API_KEY: key,
    OPENROUTER_BASE_URL: `${own}/v1`,
    GROQ_API_KEY: key,
    GROQ_BASE_URL: `${own}/v1`,
    OLLAMA_HOST: own,
    // What `oxbow doctor` is asked about must not depend on this machine.
    LLAMACPP_BASE_URL: "http://127.0.0.1:9",
    LLAMAFILE_BASE_URL: "http://127.0.0.1:9",
    LMSTUDIO_BASE_URL: "http://127.0.0.1:9",
    VLLM_BASE_URL: "http://127.0.0.1:9",
  };
  await mkdir(join(home, ".config", "oxbow"), { recursive: true });
  await writeFile(
    join(home, ".config", "oxbow", "config.toml"),
    '[routes.main]\nchain = ["anthropic:claude-sonnet-4-5"]\n',
  );
  await writeFile(join(cwd, "other.md"), "Answer in one line.\n");
  const commit = "git -c user.name=A -c user.email=a@example.com commit -qm start";
  await shell(`git init -q && git add -A && ${commit}`, { cwd, env });
  const answered = async () => {
    const command = 'oxbow run "say hello" --output-format json --permission-mode allow 2> /dev/null';
    const { output } = await shell(command, { cwd, env });
    return (JSON.parse(output) as { session: string }).session;
  };
  const [session, other] = [await answered(), await answered()];
  return { session, other, run: (command) => shell(command, { cwd, env }) };
}

function shell(command: string, options: { readonly cwd: string; readonly env: Record<string, string> }) {
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const child = spawn("bash", ["-c", command], { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (piece: Buffer) => (output += piece.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

const BLOCKS = await Promise.all(PAGES.map(async (page) => ({ page, blocks: await blocksOf(ROOT, page) })));
const COMMANDS = BLOCKS.map(({ page, blocks }) => ({
  page,
  lines: blocks.flatMap((block) => (commandsOf(block) ?? []).map((line) => ({ place: block.place, line }))),
}));
const RUN = COMMANDS.map(({ page, lines }) => ({
  page,
  lines: lines.filter(({ line }) => !NOT_RUN.some(([pattern]) => pattern.test(line))),
})).filter(({ lines }) => lines.length > 0);

describe("the commands of", () => {
  it.for(RUN)("$page", { timeout: 180_000 }, async ({ lines }) => {
    const place = await scene();
    const failed: string[] = [];
    for (const { place: at, line } of lines) {
      const { code, output } = await place.run(filledIn(line, place));
      const expected = EXIT_CODES.find(([pattern]) => pattern.test(line))?.[1] ?? 0;
      if (code !== expected) failed.push(`${at}: ${line}\nended with ${code}: ${output}`);
    }
    expect(failed).toEqual([]);
  });

  it("the list of what is not run has no line too many", () => {
    // As above, the first pattern that fits counts.
    const used = COMMANDS.flatMap(({ lines }) => lines.map(({ line }) => NOT_RUN.find(([each]) => each.test(line))));
    expect(NOT_RUN.filter((row) => !used.includes(row)).map(String)).toEqual([]);
  });
});

/** Blocks that other tests run. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  shell: "test/service/recipes.test.ts runs them against an engine",
  lua: "the configuration of Neovim",
  "ts-edit": "test/recipes.full.test.ts puts them into a copy of the source",
  mock: "src/testkit/mock-model/examples.test.ts parses and plays each",
};

/** Lists what is done with the blocks that are no commands. */
const CHECKS: Readonly<Record<string, (block: Block) => Promise<void> | void>> = {
  // test/engine/examples runs them: the second line says where they belong.
  // The flags of the jobs of a build.
  yaml: ({ text, place }) => {
    const known = RUN_FLAGS.map(({ name }) => name);
    for (const [line] of text.matchAll(/oxbow run .*(?:\\\n.*)*/g)) {
      expect(known, place).toEqual(expect.arrayContaining([...line.matchAll(/ --([\w-]+)/g)].map(([, flag]) => flag)));
    }
  },
  // What a screen shows.
  text: ({ text, place }) => expect(Math.max(...text.split("\n").map((line) => line.length)), place).toBeLessThan(140),
  bash: ({ text, place }) => expect(text, place).toMatch(/^#!.*\n# (\.oxbow|~\/\.config\/oxbow)\//),
  toml: checkProfile,
  conf: checkConf,
  json: ({ text }) => checkJson(text),
  "json-lines": ({ text }) => {
    for (const line of text.trim().split("\n")) JSON.parse(line);
  },
  "json-answer": ({ text }) => void JSON.parse(text),
  js: runModule,
  ts: runModule,
  // Skills, prompt files and agent types begin with fields.
  markdown: ({ text, place }) => expect(readFrontMatter(text), place).toMatchObject({ state: "read", problems: [] }),
};

async function checkProfile(block: Block): Promise<void> {
  const { text, place } = block;
  if (text.includes("[aliases]")) return checkAliases(block);
  if (/^\[\[rules\]\]/m.test(text)) return checkPreset(block);
  const file = join(await temporaryFolder(), "profile.toml");
  await writeFile(file, text);
  const env = { OXBOW_PROFILE: file };
  const commands = [
    ["config", "show"],
    ...(text.includes("[routes") ? [["route", "list"]] : []),
    ...(text.includes("[permissions") ? [["permissions", "test", "ls"]] : []),
    ...(text.includes("[providers") ? [["models"]] : []),
  ];
  for (const args of commands) {
    expect(await oxbow(args, { env }), `${place}: ${args.join(" ")}`).toMatchObject({ code: 0, stderr: "" });
  }
}

async function checkAliases({ text, place }: Block): Promise<void> {
  const facts = { kind: "alias", scope: "user", source: "", name: "", executable: false, sha256: "" } as const;
  const file = { ...facts, path: place, read: async () => text, program: async () => "" };
  expect((await readAliases([file])).problems, place).toEqual([]);
}

async function checkPreset({ text, place }: Block): Promise<void> {
  const home = await temporaryFolder();
  await mkdir(join(home, "config", "presets"), { recursive: true });
  await writeFile(join(home, "config", "presets", "careful.toml"), text);
  await writeFile(join(home, "config", "config.toml"), 'permissions = "careful"\n');
  const { code, stderr } = await oxbow(["permissions", "test", "git push origin main"], { env: { OXBOW_HOME: home } });
  expect([code, stderr], place).toEqual([1, ""]);
}

async function checkConf({ text, place }: Block): Promise<void> {
  const home = await temporaryFolder();
  await mkdir(join(home, "config", "providers"), { recursive: true });
  const [, name = "acme"] = /providers\/([\w-]+)\.conf/.exec(text) ?? [];
  await writeFile(join(home, "config", "providers", `${name}.conf`), text);
  // A file may name a program as its protocol.
  const program = join(home, "config", "providers", "acme");
  const isVariant = /^protocol=acme$/m.test(text);
  if (isVariant) await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });
  const { stdout, stderr } = await oxbow(["models"], { env: { OXBOW_HOME: home } });
  expect(stdout + stderr, place).toMatch(isVariant ? /acme-eu:acme-large/ : /acme.*ACME_API_KEY/);
}

/** Whole, or a line each. */
function checkJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    // A line that goes on in the next is indented there.
    for (const line of text.trim().replace(/\n\s+/g, "").split("\n")) JSON.parse(line);
  }
}

/** documentation.test.ts and test/service/recipes run those that need a server or a test; here they only have to parse. */
async function runModule({ text, place }: Block): Promise<void> {
  if (/oxbow\/testkit|oxbow\/sdk|createServer/.test(text)) {
    expect((await transform(text, { loader: "ts" })).code, place).not.toBe("");
    return;
  }
  const mock = await startMockModel({ script: script([reply().text("Hi."), reply().text("Hi.")]) });
  onTestFinished(() => mock.close());
  const folder = await temporaryFolder();
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await mkdir(join(folder, "node_modules"));
  await symlink(ROOT, join(folder, "node_modules", "oxbow"), "dir");
  await writeFile(join(folder, "example.mjs"), text);
  const env = { PATH: process.env.PATH ?? "", ANTHROPIC_API_KEY: sampleKey(), ANTHROPIC_BASE_URL: mock.url };
  const { code, output } = await shell(`'${process.execPath}' example.mjs`, { cwd: folder, env });
  expect({ code, output }, place).toMatchObject({ code: 0 });
}

const OTHERS = BLOCKS.map(({ page, blocks }) => ({
  page,
  blocks: blocks.filter((each) => commandsOf(each) === undefined && each.language !== "" && !ELSEWHERE[each.language]),
})).filter(({ blocks }) => blocks.length > 0);

describe("the other blocks of", () => {
  it.for(OTHERS)("$page", { timeout: 60_000 }, async ({ blocks }) => {
    for (const block of blocks) {
      const check = CHECKS[block.language];
      expect(check, `${block.place}: nothing says what is done with a block of ${block.language}`).toBeDefined();
      await check?.(block);
    }
  });
});

describe("docs/testing.md", () => {
  it("has an example that replays unchanged", async () => {
    const first = (await blocksOf(ROOT, "docs/testing.md")).find(({ text }) => text.includes("--record "));
    const mock = await startMockModel({
      script: script([reply().tool("grep", { pattern: "needle" }), reply().text("Found it in hay.txt.")]),
    });
    onTestFinished(() => mock.close());
    const outer = await temporaryFolder();
    const cwd = join(outer, "work");
    await mkdir(cwd);
    await writeFile(join(cwd, "hay.txt"), "needle\n");
    const env = { OXBOW_HOME: join(outer, "home"), ANTHROPIC_API_KEY: sampleKey(), ANTHROPIC_BASE_URL: mock.url };
    const shown = (first?.text ?? "").split(/^\$ oxbow (.*)$/m).slice(1);
    for (let at = 0; at < shown.length; at += 2) {
      const args = (shown[at]?.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
      expect(await oxbow(args, { cwd, env })).toMatchObject({ code: 0, stdout: shown[at + 1]?.trimStart() });
    }
    expect(mock.requests).toHaveLength(2);
  });
});

it("the library's usual model is one that the catalogue knows", async () => {
  const [library, catalogue] = await Promise.all(
    ["docs/library.md", "assets/models.txt"].map((file) => readFile(join(ROOT, file), "utf8")),
  );
  const named = /\| `model` \| `([^`]+)`/.exec(library ?? "")?.[1] ?? "";
  expect(catalogue).toMatch(new RegExp(`^${named} .*t`, "m"));
});
