/** The code in the documentation and the examples is run, against a model that is a script. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, describe, expect, it } from "vitest";
import { HOOK_EVENTS } from "../../src/extensions/hooks/hook-events.js";
import { type MockModel, type ReplyBuilder, reply, script, startMockModel } from "../../src/testkit/index.js";
import { providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";
import { ask, readEvents } from "./http.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MOST_LINES = 15;

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function mockModel(...replies: readonly ReplyBuilder[]): Promise<MockModel> {
  const mock = await startMockModel({ script: script(replies) });
  mocks.push(mock);
  return mock;
}

/** The blocks of a page that use the package. */
async function codeIn(page: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  return blocks.filter((code) => code.includes('from "oxbow"'));
}

/** A project of its own, with the built package installed as npm would. */
async function projectWith(code: string): Promise<string> {
  const folder = await temporaryFolder();
  // Without a manifest of its own, Node would take a package.json of a folder above, and its name could be ours.
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await mkdir(join(folder, "node_modules"));
  await symlink(ROOT, join(folder, "node_modules", "oxbow"), "dir");
  const file = join(folder, "example.mjs");
  await writeFile(file, code);
  return file;
}

interface Started {
  readonly output: () => string;
  readonly exit: Promise<number | null>;
  /** The next line of output that matches. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  stop(signal: NodeJS.Signals): void;
}

function start(file: string, mock: MockModel, args: readonly string[] = []): Started {
  const env = { PATH: process.env.PATH ?? "", ...providerEnvironment("anthropic", mock.url) };
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
      for (const check of waiting) check();
    });
  }
  const exit = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      resolve(code);
      for (const check of waiting) check();
    });
  });
  return {
    output: () => output,
    exit,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = pattern.exec(output);
          if (found !== null) resolve(found);
          else if (child.exitCode !== null) reject(new Error(`It ended with: ${output}`));
        };
        waiting.add(check);
        check();
      }),
    stop: (signal) => child.kill(signal),
  };
}

describe("docs/library.md", () => {
  verifies(["L13"], "opens with an example of at most fifteen lines that runs unchanged", async () => {
    const mock = await mockModel(
      reply().text("Let me look.").tool("clock", { zone: "Europe/Lisbon" }),
      reply()
        .expect("last-tool-result", {
          matches: /^<untrusted-\w+>\n\d\d:\d\d:\d\d\n<\/untrusted-\w+>$/,
        })
        .text("Time for lunch."),
    );
    const [code = ""] = await codeIn("docs/library.md");
    expect(code.trimEnd().split("\n").length).toBeLessThanOrEqual(MOST_LINES);
    const program = start(await projectWith(code), mock);
    expect(await program.exit).toBe(0);
    expect(program.output()).toBe("Let me look.\n→ clock { zone: 'Europe/Lisbon' }\nTime for lunch.\n");
    expect(mock.failures).toEqual([]);
  });

  verifies(["C6"], "has an example of the server that runs unchanged", async () => {
    const mock = await mockModel(reply().text("Hi."));
    const code = (await codeIn("docs/library.md")).find((block) => block.includes("createServer")) ?? "";
    const program = start(await projectWith(code), mock);
    const [events = ""] = await program.line(/^http.*$/m);
    const reader = await readEvents(events);
    const { origin, searchParams } = new URL(events);
    const headers = { authorization: `Bearer ${searchParams.get("token")}` };
    await ask(`${origin}/prompt`, { method: "POST", headers, body: '{"content": "Hello."}' });
    await reader.until((seen) => seen.events.some(({ content }) => content === "Hi."));
    program.stop("SIGTERM");
    expect(await reader.ended).toBe("ended");
    expect(await program.exit).toBe(0);
  });
});

/** Of prose: tables and code blocks are for looking up. */
const MOST_WORDS = 1200;

describe("the pages", () => {
  it("walk through ten files that exist", async () => {
    const page = await readFile(join(ROOT, "docs/contributing/tour.md"), "utf8");
    const tour = [...page.matchAll(/^\d+\. `(src\/[^`]+\.ts)`/gm)].map(([, file = ""]) => file);
    expect(tour).toHaveLength(10);
    expect(tour.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it("have the architecture on two pages", async () => {
    const page = await readFile(join(ROOT, "ARCHITECTURE.md"), "utf8");
    expect(page.split("\n").length).toBeLessThanOrEqual(120);
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(1300);
  });

  it("name only files and folders of the source that exist", async () => {
    const pages = ["ARCHITECTURE.md", ...(await pagesIn("docs/contributing")), ...(await pagesIn("docs/design"))];
    const layers = await readdir(join(ROOT, "src"));
    const gone: string[] = [];
    for (const page of pages) {
      const prose = (await readFile(join(ROOT, page), "utf8")).replace(/^```.*?^```$/gms, "");
      for (const [, path = ""] of prose.matchAll(/`((?:src\/|test\/|tools\/)?[\w.-]+(?:\/[\w.-]+)+)`/g)) {
        const isSource = layers.includes(path.split("/")[0] ?? "");
        if (!isSource && !/^(src|test|tools)\//.test(path)) continue;
        const places = isSource ? [join(ROOT, "src", path), join(ROOT, path)] : [join(ROOT, path)];
        if (!places.some((place) => existsSync(place))) gone.push(`${page}: ${path}`);
      }
    }
    expect(gone).toEqual([]);
  });

  it("are there where the program, its settings and its examples name one", async () => {
    const gone: string[] = [];
    for (const folder of ["src", "assets", "examples", "tools"]) {
      for (const file of await readdir(join(ROOT, folder), { recursive: true })) {
        if (!/\.(ts|mjs|md|toml|conf)$/.test(file) || /\.test\.ts$|node_modules/.test(file)) continue;
        const text = await readFile(join(ROOT, folder, file), "utf8");
        for (const [page] of text.matchAll(/\bdocs\/[a-z0-9/-]+\.md\b/g)) {
          if (!existsSync(join(ROOT, page))) gone.push(`${folder}/${file}: ${page}`);
        }
      }
    }
    expect(gone).toEqual([]);
  });

  it("link only to files and headings that exist", async () => {
    const folders = ["docs", "docs/design", "docs/decisions", "docs/contributing"];
    const guides = (await Promise.all(folders.map(pagesIn))).flat();
    const broken: string[] = [];
    for (const page of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...guides]) {
      const text = await readFile(join(ROOT, page), "utf8");
      for (const [, link = ""] of text.matchAll(/\]\(((?!https?:)[^)\s]+)\)/g)) {
        const [path = "", heading] = link.split("#");
        const target = path === "" ? join(ROOT, page) : join(ROOT, dirname(page), path);
        const found = existsSync(target) && (heading === undefined || headingsOf(target).includes(heading));
        if (!found) broken.push(`${page}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it("name every event of hooks, with its deadline", async () => {
    const rows = (await readFile(join(ROOT, "docs/hooks.md"), "utf8")).matchAll(
      /^\| ([A-Z][^|]*) \| .* \| ([\d., ]+) \|/gm,
    );
    const written = [...rows].flatMap(([, names = "", seconds = ""]) => {
      const each = seconds.split(", ");
      return names
        .replace(/ \(.*\)/, "")
        .split(", ")
        .map((name, at) => [name, Number(each[at] ?? each[0])]);
    });
    const known = Object.entries(HOOK_EVENTS).map(([name, { deadlineMs }]) => [name, deadlineMs / 1000]);
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(known));
  });

  it("say first when to use them, and stay short", async () => {
    const guides = (await pagesIn("docs")).filter((page) => !/(README|reference|protocol|glossary)\.md$/.test(page));
    const silent: string[] = [];
    const long: string[] = [];
    for (const page of guides) {
      const text = await readFile(join(ROOT, page), "utf8");
      if (!/^# .*\n\nUse this when /.test(text)) silent.push(page);
      const prose = text.replace(/^```.*?^```$/gms, "").replace(/^(\|| {4}).*$/gm, "");
      const words = prose.split(/\s+/).length;
      if (words > MOST_WORDS) long.push(`${page}: ${words} words`);
    }
    expect({ silent, long }).toEqual({ silent: [], long: [] });
  });
});

async function pagesIn(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder));
  return names.filter((name) => name.endsWith(".md")).map((name) => `${folder}/${name}`);
}

/** The anchors of a page, as GitHub makes them. */
function headingsOf(page: string): string[] {
  const headings = readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

describe("examples/library", () => {
  async function compiled(name: string): Promise<string> {
    const outfile = join(await temporaryFolder(), "example.mjs");
    const entry = join(ROOT, "examples", "library", name);
    const loader = { ".md": "text" } as const;
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      loader,
      format: "esm",
      platform: "node",
      logLevel: "error",
    });
    return outfile;
  }

  it("file-tools.ts reads and answers", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "note.txt"), "buy milk\n");
    const mock = await mockModel(
      reply()
        .tool("list", { path: folder })
        .tool("read", { path: join(folder, "none.txt") }),
      reply().tool("read", { path: join(folder, "note.txt") }),
      reply().expect("last-tool-result", { contains: "buy milk" }).text("Milk."),
    );
    const program = start(await compiled("file-tools.ts"), mock, ["What shall I buy?"]);
    expect(await program.exit).toBe(0);
    expect(program.output()).toMatch(
      /← note\.txt\n✗ ENOENT[\s\S]*← buy milk\nMilk\.\n\(answered after 3 model calls\)\n$/,
    );
    expect(mock.failures).toEqual([]);
  });

  it("file-tools.ts tells what went wrong", async () => {
    const mock = await mockModel(reply().error({ kind: "rate-limit" }));
    const program = start(await compiled("file-tools.ts"), mock);
    expect(await program.exit).toBe(1);
    expect(program.output()).toMatch(/^RateLimited: /);
  });

  it("server.ts serves until Ctrl-C", async () => {
    const mock = await mockModel(reply().tool("roll", { sides: 6 }), reply().text("There."));
    const program = start(await compiled("server.ts"), mock);
    const [, token = "", url = ""] = await program.line(/X-Oxbow-Token: (\S+)' -d .* (http\S+)\/prompt$/m);
    const headers = { "x-oxbow-token": token };
    const reader = await readEvents(`${url}/events`, headers);
    await ask(`${url}/prompt`, { method: "POST", headers, body: '{"content": "Roll."}' });
    await reader.until(({ events }) => events.at(-1)?.state === "idle");
    expect(reader.events.find(({ type }) => type === "tool_result")?.result).toMatch(/^[1-6]$/);
    program.stop("SIGINT");
    expect(await program.exit).toBe(0);
  });
});
