import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processorMs } from "../../../test/support/processor-time.js";
import { verifies } from "../../../test/verifies.js";
import { commandNeeds } from "./contained/needs.js";
import { diskLinks } from "./disk-links.js";
import { diskTrees } from "./disk-trees.js";
import { readCommand } from "./read-command.js";

let base: string;
let links: string;
let secrets: string;
let clean: string;

async function put(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-trees-")));
  [links, secrets, clean] = ["links", "secrets", "clean"].map((name) => join(base, name)) as [string, string, string];
  const plain = {
    "a.txt": "x",
    "src/main.ts": "x",
    "src/deep/lib/b.ts": "x",
    "other/deep/c.txt": "x",
    ".git/config": "[core]\n",
  };
  await put(base, { "home/.ssh/id_rsa": "key", "home/notes/n.txt": "x" });
  await put(links, plain);
  await symlink(join(base, "home", ".ssh"), join(links, "src/deep/lib/keys"));
  await symlink(join(base, "home", "notes", "n.txt"), join(links, "other/deep/n.txt"));
  await put(secrets, { ...plain, ".env": "A=1", "certs/server.pem": "key", "src/settings.json": "{}" });
  await put(clean, { ...plain, ".env.example": "A=", "node_modules/x/test.pem": "key" });
  await symlink("main.ts", join(clean, "src/link.ts"));
});
afterAll(() => rm(base, { recursive: true, force: true }));

function verdict(workspace: string, command: string): string {
  return readCommand(command, { workspace, links: diskLinks, trees: diskTrees }).verdict;
}

function verdicts(workspace: string, commands: readonly string[]) {
  return commands.map((command) => [command, verdict(workspace, command)]);
}

describe("a glob with many stars", () => {
  verifies(["P3"], "is judged at once, also if it almost fits a long name", async () => {
    const folder = join(base, "stars");
    await put(folder, { ["a".repeat(200)]: "x" });
    const stars = `${"*a".repeat(20)}*b`;
    const commands = [`ls -R ${stars}`, `cat ${stars}`, `grep -r x --include='${stars}' .`];
    let seen: string[] = [];
    const took = processorMs(() => {
      seen = commands.map((command) => verdict(folder, command));
    });
    expect(seen).toEqual(["ask", "ask", "ask"]);
    // Trying every way to fit 20 stars to 200 letters would take years.
    expect(took).toBeLessThan(5_000);
  });
});

describe("links out of the workspace, deep in it", () => {
  verifies(["P3"], "make commands ask that follow them", () => {
    const commands = [
      ...["grep -R key .", "grep -nR key src", "grep --dereference-recursive key", "rg -L key", "rg --follow key src"],
      ...[
        "find -L . -name id_rsa",
        "find . -follow",
        "diff -r src other",
        "diff src other",
        "ls -LR",
        "ls -L src/deep/lib",
      ],
      ...[
        "tree -l",
        "du -L src",
        "fd -L key",
        "cat src/*/*/*/id_rsa",
        "cat */*/*",
        "head other/*/n*",
        "wc -l other/*/*",
      ],
      ...[
        "find . -print0 | xargs -0 cat",
        "fd -0 n | xargs -0 head",
        "cd src && grep -R key .",
        "timeout 5 grep -R key",
      ],
      ...["ls src/*/*/*", "cat src/deep/*/keys/*"],
    ];
    expect(verdicts(links, commands)).toEqual(commands.map((it) => [it, "ask"]));
  });

  it("do not affect other commands, and neither do links inside", () => {
    const commands = ["grep -r x .", "rg x", "find . -name '*.ts'", "ls -R", "tree", "du -s .", "ls *", "cat src/*.ts"];
    expect(verdicts(links, commands)).toEqual(commands.map((it) => [it, "read-only"]));
    const inside = ["grep -R x .", "rg -L x", "find -L . -name x", "diff -r src other", "cat */*", "ls -LR", "rg src"];
    expect(verdicts(clean, inside)).toEqual(inside.map((it) => [it, "read-only"]));
  });
});

describe("files that hold secrets", () => {
  verifies(["P3", "P9"], "make commands ask that would show them without naming them", () => {
    const commands = [
      ...["grep -r A .", "grep -rn A", "grep -R A .", "rg --hidden A", "rg -uu A", "rg A", "rg certs", "rg -t json A"],
      ...[
        "cat .e*",
        "head certs/*",
        "cat */*.pem",
        "cat */*",
        "find . -type f -print0 | xargs -0 cat",
        "diff -r . src",
      ],
      ...["find . -name '*.pem' -print0 | xargs -0 cat", "grep -rlZ A . | xargs -0 cat", "grep -r --include='*' A ."],
      ...["rg -g '*.pem' A", "md5sum certs/*", "strings certs/*", "cat .env", "grep -r A certs", "cd certs && cat *"],
    ];
    expect(verdicts(secrets, commands)).toEqual(commands.map((it) => [it, "ask"]));
  });

  it("do not disturb where they are not touched, or only named", () => {
    const commands = [
      ...[
        "grep -r A src",
        "rg A src",
        "grep -rn --include='*.ts' A .",
        "rg -t ts A",
        "rg -g '*.ts' A",
        "cat *",
        "cat src/*",
      ],
      ...[
        "ls -la",
        "ls -R",
        "ls certs/*",
        "find . -name '*.pem'",
        "tree -a",
        "du -a",
        "wc -l certs/*",
        "rg --files --hidden",
      ],
      ...["find . -name '*.ts' -print0 | xargs -0 grep A", "cat a.txt"],
    ];
    expect(verdicts(secrets, commands)).toEqual(commands.map((it) => [it, "read-only"]));
    const without = ["grep -r A .", "rg --hidden A", "rg -uu A", "find . -type f -print0 | xargs -0 grep A", "cat */*"];
    expect(verdicts(clean, without)).toEqual(without.map((it) => [it, "read-only"]));
  });

  verifies(["P9"], "are found where another program lists the names, or a loop", () => {
    const exposes = (command: string) =>
      readCommand(command, { workspace: secrets, trees: diskTrees }).parts.some((part) => part.exposes !== undefined);
    const shown = [
      ...[
        "find . -name '*.p*' | xargs cat",
        "find . -type f | sort | xargs -n1 head",
        "find certs | xargs -I{} sh -c 'cat {}'",
      ],
      ...[
        "git ls-files | xargs cat",
        "git ls-files certs | xargs cat",
        "cat $(git ls-files)",
        "cat $(find certs -type f)",
      ],
      ...[
        "rg --files --hidden | xargs cat",
        "ls -A certs | while read f; do cat certs/$f; done",
        "echo certs/* | xargs cat",
      ],
      ...['for f in certs/*; do cat "$f"; done', "for f in $(find .); do head $f; done", "shopt -s dotglob; cat *"],
      ...["x=$(git ls-files); cat $x", "find . | env xargs cat", "GLOBIGNORE=x; cat *"],
      ...["cat $x; find . | xargs cat", "grep -rn A src/nope .", "grep -rn A src/nope $x", "egrep -re A"],
    ];
    expect(shown.filter((command) => !exposes(command))).toEqual([]);
    const others = [
      ...[
        "find . -name '*.ts' | xargs grep A",
        "git ls-files '*.ts' | xargs cat",
        "git ls-files src | xargs cat",
        "cat $(find src)",
      ],
      ...[
        "find . -type f | xargs wc -l",
        "git ls-files | xargs eslint",
        "for f in src/*; do cat $f; done",
        "find . -type f | wc -l",
      ],
      ...["for f in *.ts; do cat $f; done", "ls certs; cat $x", "cat *"],
      ...[
        "ls -A . | head; cat ~/.bashrc",
        "ls -A . | head; cat $HOME/.bashrc",
        "grep -rn A src/nope",
        "rg --hidden A nope",
      ],
      ...["find nope -type f -print0 | xargs -0 cat"],
    ];
    expect(others.filter(exposes)).toEqual([]);
  });

  it("are distinguished from other reasons to ask", () => {
    const [part] = readCommand("grep -r A .", { workspace: secrets, trees: diskTrees }).parts;
    expect(part?.exposes).toMatch(/^It would show (\.env|certs\/server\.pem): /);
    expect(readCommand("make", { workspace: secrets, trees: diskTrees }).parts[0]?.exposes).toBeUndefined();
  });

  it("are also a repository's configuration with a login", async () => {
    await put(base, {
      "login/.git/config": `[remote "origin"]\n\turl = https://me:${"w".repeat(9)}@host/x\n`,
      "login/a": "x",
    });
    const login = join(base, "login");
    expect(verdicts(login, ["grep -r x .", "rg x"])).toEqual([
      ["grep -r x .", "ask"],
      ["rg x", "read-only"],
    ]);
  });
});

describe("what a contained command shows", () => {
  const needs = (workspace: string, command: string) =>
    commandNeeds(readCommand(command, { workspace, links: diskLinks, trees: diskTrees }), { workspace }).map(
      ({ reason }) => reason,
    );
  const SHOWN = [
    ...["cp .env x.txt && cat x.txt", "tar cf - .env | strings", "while read l; do echo $l; done < .env"],
    ...["python3 -c 'print(open(\".env\").read())'", "node -e 'fs.readFileSync(`./.env`)'", "xargs cat <<< .env"],
    ...["head -c 100 .e*", "cat .??v", "find . -name '.e*' -exec cat {} +", "find certs -type f -exec base64 {} \\;"],
    ...[
      "cd certs && openssl pkey -in server.pem",
      "git cat-file -p HEAD:.env",
      "git show HEAD~3:.env",
      "ln .env plain",
    ],
    ...["bash -c 'paste .env'", "cat .env | (", "perl -ne print .env"],
  ];
  verifies(["P15", "P3"], "asks for a file that holds secrets, however the text names it", () => {
    expect(SHOWN.filter((command) => !/secret|key|would show/.test(needs(secrets, command).join()))).toEqual([]);
  });

  const QUIET = [
    ...[
      "cp .env.example .env",
      "touch .env",
      "echo .env >> .gitignore",
      "rm .env",
      "test -f .env && make",
      "ls -la .env",
    ],
    ...[
      "node --env-file=.env app.js",
      "node gen.js > .env",
      "chmod 600 certs/server.pem",
      "make test",
      "node -e 'a.key'",
    ],
    ...["find . -name '*.ts' -exec cat {} +", "cat src/*", "tar czf a.tgz src", "git status -- .env", "python3 x.py"],
  ];
  it("does not ask for one that is only mentioned, written or given to a program", () => {
    expect(QUIET.flatMap((command) => needs(secrets, command).map((reason) => [command, reason]))).toEqual([]);
    expect(needs(clean, "cp .env x.txt")).toEqual([]);
  });
});
