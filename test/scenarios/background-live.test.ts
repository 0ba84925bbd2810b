/** Commands in the background: they see the live workspace, change only what they may, and Oxbow tells what they left. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import type { LateQuestion, ToolContext } from "../../src/engine/ports.js";
import { openAutoMode } from "../support/auto-mode.js";
import { needs } from "../support/needs.js";
import { until } from "../support/waiting.js";
import { verifies } from "../verifies.js";

let root: string;
let own: string;
let mode: Awaited<ReturnType<typeof openAutoMode>>;
let asked: LateQuestion[];

beforeEach(() => {
  own = realpathSync(mkdtempSync("/var/tmp/live-own-"));
  root = join(own, "project");
  mkdirSync(root);
  asked = [];
});

afterEach(async () => {
  await mode?.close();
  rmSync(own, { recursive: true, force: true });
});

const at = (path: string) => join(root, path);

function write(path: string, text = ""): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

/** A project with a commit whose ignore file names some folders. */
async function project(): Promise<void> {
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: root });
  git("init", "-q", "-b", "main");
  write(".gitignore", "node_modules/\n/dist\n.env*\n*.log\nkeys/\n");
  write("src/main.ts", "one\n");
  write("docs/dist/page.md", "page\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  for (const folder of ["node_modules/vite", "dist"]) mkdirSync(at(folder), { recursive: true });
  mkdirSync(join(own, "home"));
  mode = await openAutoMode({ root, home: join(own, "home"), ownFolder: join(own, "oxbow") });
}

/** Runs it in the background and waits for its end. The text is all that it said, with what the start said in front. */
async function background(
  command: string,
  { answer, writable }: { readonly answer?: boolean; readonly writable?: readonly string[] } = {},
): Promise<{ readonly started: string; readonly text: string }> {
  const ask: ToolContext["ask"] = async (question) => {
    asked.push(question);
    return answer === true;
  };
  const context = answer === undefined ? {} : { ask };
  const started = await mode.runWith(command, context, { run_in_background: true, ...(writable && { writable }) });
  const id = /as (bg\d+)/.exec(started.output)?.[1];
  if (id === undefined) return { started: started.output, text: "" };
  return { started: started.output, text: await mode.readBackground({ id, wait: 20 }) };
}

needs("sandbox").describe("a command in the background", () => {
  verifies(["P18"], "changes ignored folders and /tmp, and nothing else of the workspace", async () => {
    await project();
    const { started, text } = await background(
      "for each in src/main.ts new.txt node_modules/.vite/deps dist/out docs/dist/more .git/x /tmp/x debug.log; do mkdir -p $(dirname $each) 2>/dev/null; (echo hi > $each) 2>/dev/null && echo wrote $each; done; ls",
    );
    expect(started).toContain("can change only dist/, node_modules/, /tmp");
    expect(text.match(/wrote \S+/g)).toEqual(["wrote node_modules/.vite/deps", "wrote dist/out", "wrote /tmp/x"]);
    expect(readFileSync(at("dist/out"), "utf8")).toBe("hi\n");
    expect(readFileSync(at("src/main.ts"), "utf8")).toBe("one\n");
    expect(asked).toEqual([]);
  });

  verifies(["P18"], "sees what file tools and other commands change later", async () => {
    await project();
    const run = background(
      "i=0; while ! { grep -q three src/main.ts && [ -e src/other.ts ]; } && [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); done; cat src/main.ts src/other.ts",
    );
    // An editor replaces the file, and a command makes another one.
    writeFileSync(at("src/main.tmp"), "two\n");
    renameSync(at("src/main.tmp"), at("src/main.ts"));
    await mode.runWith("echo other > src/other.ts; echo three >> src/main.ts");
    expect((await run).text).toContain("two\nthree\nother");
  });

  verifies(["P18"], "obeys the ignore files of the commit, not those that a command wrote", async () => {
    await project();
    write(".gitignore", "src/\nlib/\n");
    mkdirSync(at("lib"));
    const { text } = await background(
      "for each in src/x lib/x dist/x; do (echo hi > $each) && echo wrote $each; done 2>/dev/null",
    );
    expect(text.match(/wrote \S+/g)).toEqual(["wrote dist/x"]);
  });

  verifies(["P18"], "does not change what is guarded, secret, or has another name outside", async () => {
    await project();
    write("keys/id_rsa", "secret\n");
    write("node_modules/linked/index.js", "shared\n");
    linkSync(at("node_modules/linked/index.js"), join(own, "store.js"));
    write("node_modules/clone/.git/config", "[core]\n");
    write("dist/.vscode/tasks.json", "{}");
    const { started, text } = await background(
      "for each in keys/x node_modules/linked/index.js node_modules/clone/.git/config node_modules/clone/x dist/.vscode/tasks.json dist/.vscode/x node_modules/x; do (echo hi > $each) && echo wrote $each; done 2>/dev/null; mv node_modules/linked node_modules/moved 2>/dev/null && echo was moved",
    );
    expect(text.match(/wrote \S+|was moved/g)).toEqual(["wrote node_modules/x"]);
    expect(started).not.toContain("keys/");
    expect(readFileSync(join(own, "store.js"), "utf8")).toBe("shared\n");
  });

  verifies(["P18"], "changes a folder that the person allowed, which Oxbow makes", async () => {
    await project();
    const refused = await background("true", { writable: ["data/db"] });
    expect(refused.started).toContain("did not allow");
    expect(existsSync(at("data"))).toBe(false);
    const { text } = await background("echo hi > data/db/x && echo wrote", { writable: ["data/db"], answer: true });
    expect(text).toContain("wrote");
    expect(asked.map(({ summary }) => summary)).toEqual(["Commands in the background want to change data/db/"]);
    // The answer holds for the session.
    expect((await background("echo hi > data/db/y && echo again", { writable: ["data/db"] })).text).toContain("again");
    for (const folder of [".git", "..", ".", ".vscode", own])
      expect((await background("true", { writable: [folder], answer: true })).started).toMatch(
        /cannot change|only folders/,
      );
    expect(asked).toHaveLength(1);
  });

  verifies(["P18"], "does not see secret files until the person shows them", async () => {
    await project();
    write(".env", "TOKEN_VALUE=not-for-you\n");
    write("keys/id_rsa", "not-for-you\n");
    const hidden = await background("cat .env; cat keys/id_rsa; ls keys");
    expect(hidden.text).not.toContain("not-for-you");
    expect((await background("cat .env", { answer: true })).text).toContain("not-for-you");
    expect(asked).toMatchObject([{ summary: "Show .env to commands in the background?", isOffer: true }]);
    expect((await background("cat .env keys/id_rsa")).text.match(/not-for-you/g)).toHaveLength(1);
  });

  verifies(["P18"], "tells the model and the person which guarded names it left", async () => {
    await project();
    const { text } = await background("mkdir -p dist/x/.vscode node_modules/p/.git; touch dist/x/.vscode/tasks.json");
    expect(text).toContain("left files that other programs run or obey");
    expect(text).toContain("dist/x/.vscode");
    expect(text).toContain("node_modules/p/.git");
    await until(() => mode.told.some((line) => line.includes("dist/x/.vscode")));
  });
});
