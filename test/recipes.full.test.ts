/** The recipes of docs/contributing/adding.md, followed in a copy of the source: they name every place that a new thing touches. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { reply, script, startMockModel } from "../src/testkit/index.js";
import { providerEnvironment, sampleKey } from "./support/program.js";

const PAGE = "docs/contributing/adding.md";
const COPIED = ["src", "assets", "tools", "docs", "package.json", "package-lock.json", "tsconfig.json"];
/** The compiler reads all of the source three times. */
const LIMIT_MS = 300_000;
const run = promisify(execFile);

interface Edit {
  readonly file: string;
  /** The text before which the new one comes; undefined: the file is new. */
  readonly before: string | undefined;
  readonly text: string;
}

/** Lists the edits of the page by the heading above them. */
function editsOf(page: string): ReadonlyMap<string, readonly Edit[]> {
  const sections = readFileSync(page, "utf8")
    .split(/^## /m)
    .slice(1)
    .map((section): [string, readonly Edit[]] => {
      const blocks = section.matchAll(/^```ts-edit (\S+)(?: before ("[^\n]*"))?\n(.*?)^```$/gms);
      const edits = [...blocks].map(([, file = "", before, text = ""]) => ({
        file,
        before: before === undefined ? undefined : (JSON.parse(before) as string),
        text,
      }));
      return [section.slice(0, section.indexOf("\n")), edits];
    });
  return new Map(sections.filter(([, edits]) => edits.length > 0));
}

class Copy {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-recipe-")));
  /** Beside the copy: what lies in the folder of a session would be content of the project. */
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "oxbow-recipe-home-")));

  constructor() {
    for (const name of COPIED) cpSync(name, join(this.root, name), { recursive: true });
    symlinkSync(join(process.cwd(), "node_modules"), join(this.root, "node_modules"));
    const config = JSON.parse(readFileSync("tsconfig.json", "utf8")) as { include: string[]; exclude?: string[] };
    const sources = {
      ...config,
      include: ["src"],
      exclude: [...(config.exclude ?? []), "**/*.test.ts", "**/test-support/**"],
    };
    writeFileSync(join(this.root, "tsconfig.json"), JSON.stringify(sources));
  }

  edit({ file, before, text }: Edit): void {
    const path = join(this.root, file);
    if (before === undefined) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return;
    }
    const source = readFileSync(path, "utf8");
    const at = source.indexOf(before);
    if (at === -1) throw new Error(`${file} has no "${before}"`);
    writeFileSync(path, source.slice(0, at) + text + source.slice(at));
  }

  /** Lists the files that the compiler complains about. */
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

  /** Reads what it says on stderr. */
  async said(...args: readonly string[]): Promise<string> {
    return (await this.#oxbow(args)).stderr;
  }

  async oxbowWith(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
    return (await this.#oxbow(args, variables)).stdout;
  }

  get environment() {
    return { ...process.env, OXBOW_HOME: this.home };
  }

  get program(): string {
    return join(this.root, "dist/bin.js");
  }

  #oxbow(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
    const env = { ...this.environment, ...variables };
    return run(process.execPath, [this.program, ...args], { cwd: this.root, env });
  }
}

describe("the recipe of", () => {
  const recipes = editsOf(PAGE);
  let copy: Copy;

  beforeAll(async () => {
    copy = new Copy();
    const [type, ...others] = recipes.get("An event") ?? [];
    copy.edit(type as Edit);
    // The compiler names the places that the recipe of an event still has to fill.
    expect([...(await copy.complaints())].sort()).toEqual(others.map(({ file }) => file).sort());
    for (const edits of recipes.values()) for (const edit of edits) if (edit !== type) copy.edit(edit);
    expect(await copy.complaints()).toEqual([]);
    await run(process.execPath, [join(copy.root, "tools/check-layers.mjs")], { cwd: copy.root });
    await run(process.execPath, [join(copy.root, "tools/build.mjs")], { cwd: copy.root });
  }, LIMIT_MS);

  afterAll(() => {
    for (const folder of [copy.root, copy.home]) rmSync(folder, { recursive: true, force: true });
  });

  it("each thing has so few files", () => {
    const files = [...recipes].map(([name, edits]) => [name, new Set(edits.map(({ file }) => file)).size]);
    expect(Object.fromEntries(files)).toEqual({
      "A provider": 1,
      "A tool": 2,
      "A command": 1,
      "A setting, a flag, a variable": 2,
      "An event": 3,
      "An event of hooks": 3,
      "A route": 1,
      "A session store": 2,
    });
  });

  it("a provider makes one that answers, with its variables in the help", async () => {
    const model = await startMockModel({ script: script([reply().text("Land ahoy.")]) });
    try {
      const variables = { HARBOUR_API_KEY: sampleKey(), HARBOUR_BASE_URL: `${model.url}/v1` };
      expect(await copy.oxbowWith(variables, "run", "--provider", "harbour", "look")).toBe("Land ahoy.\n");
      expect(await copy.oxbow("help", "environment")).toContain("HARBOUR_API_KEY");
    } finally {
      await model.close();
    }
  });

  it("a command makes one, also for the shell", async () => {
    expect(await copy.oxbow("memory", "count")).toBe("0 memories\n");
    expect(await copy.oxbow("memory", "count", "--json")).toBe("0\n");
    expect(await copy.oxbow("--run", scriptIn(copy, "/memory count\n"))).toContain("0 memories");
    expect(await copy.oxbow("memory", "--help")).toContain("say how many memories there are");
  });

  it("a setting makes its flag and its variable", async () => {
    const said = ["--provider", "offline", "--memory-greeting", "Ahoy!", "hello"];
    expect(await copy.said("run", ...said)).toContain("Ahoy!");
    expect(await copy.oxbow("config", "show", "--memory-greeting", "Ahoy!")).toMatch(
      /memory_greeting +Ahoy! +--memory/,
    );
    expect(await copy.oxbow("config", "keys", "--json")).toMatch(/"memory_greeting",[^}]*"holds": "engine"/);
    expect(await copy.oxbow("run", "--help")).toContain("--memory-greeting TEXT");
    expect(await copy.oxbow("help", "environment")).toContain("OXBOW_GREETING");
  });

  it("a tool makes one that the model uses", async () => {
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
  });

  it("an event of hooks makes one that runs", async () => {
    const config = join(copy.home, "config");
    const seen = join(copy.root, "seen");
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, "config.toml"), `[[hooks]]\nevent = "TurnBegan"\ncmd = "cat > '${seen}'"\n`);
    await copy.oxbow("run", "--provider", "offline", "hello");
    rmSync(join(config, "config.toml"));
    expect(JSON.parse(readFileSync(seen, "utf8"))).toMatchObject({
      hook_event_name: "TurnBegan",
      turn_id: expect.stringMatching(/^turn_/),
    });
  });

  it("a route makes one, and its description", async () => {
    const args = [copy.program, "serve", "--listen", "127.0.0.1:0"];
    const engine = spawn(process.execPath, args, { cwd: copy.root, env: copy.environment });
    try {
      let printed = "";
      for await (const piece of engine.stdout) {
        printed += String(piece);
        if (/http:\S+\n/.test(printed)) break;
      }
      const address = /http:\S+/.exec(printed)?.[0] ?? "";
      const token = readFileSync(join(copy.home, "state", "control.token"), "utf8").trim();
      const ask = async (path: string, method = "GET") => {
        const headers = { "x-oxbow-token": token, "content-type": "application/json" };
        const answer = await fetch(`${address}/v1/${path}`, {
          method,
          headers,
          ...(method === "POST" && { body: "{}" }),
        });
        return (await answer.json()) as { session: string; paths: object };
      };
      await ask("handshake");
      const { session } = await ask("sessions", "POST");
      expect(await ask(`questions?session=${session}`)).toEqual({ questions: [] });
      expect((await ask("openapi.json")).paths).toHaveProperty("/v1/questions");
    } finally {
      const ended = once(engine, "exit");
      engine.kill("SIGTERM");
      await ended;
    }
  });

  it("a session store makes one that keeps sessions", async () => {
    const store = ["--store", `shelf:${join(copy.root, "shelf")}`];
    await copy.oxbow("run", ...store, "--provider", "offline", "hello");
    expect(await copy.oxbow("session", "list", ...store)).toMatch(/sess_\w+/);
    await expect(copy.oxbow("run", "--store", "barn", "hello")).rejects.toThrow(/shelf or shelf:DIR|shelf, shelf:DIR/);
  });
});

function scriptIn({ root }: Copy, text: string): string {
  const path = join(root, "script.txt");
  writeFileSync(path, text);
  return path;
}
