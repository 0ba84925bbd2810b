/**
 * Shows what a denied call says to the model: the law, the part of the command that causes it, and the true reason. A table of commands in a
 * project as models find it: an untracked `.env`, links in `node_modules`, a link out of the folder.
 */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { decide, type PermissionPolicy } from "./decide.js";
import { diskLinks } from "./disk-links.js";
import { diskTrees } from "./disk-trees.js";
import { denialText, reasonIn } from "./explain.js";
import type { DecisionFacts } from "./facts.js";
import { readCommand } from "./read-command.js";
import { bash, onPath, pathsOf, policyWith } from "./test-support/sample-policy.js";
import { trackedFiles, trackedSecrets } from "./tracked-files.js";

let base: string;
let workspace: string;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "oxbow-reasons-")));
  workspace = join(base, "home/ada/project");
  const put = async (path: string, text = "x\n") => {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  };
  for (let index = 0; index < 30; index++) await put(`src/f${index}.ts`);
  for (const path of ["src/main.ts", "other/a", "script.sh", "node_modules/@biomejs/biome/bin/biome"]) await put(path);
  await put("package.json", "{}");
  await put(".env", "A=1");
  await mkdir(join(workspace, "node_modules/.bin"));
  await symlink("../@biomejs/biome/bin/biome", join(workspace, "node_modules/.bin/biome"));
  await put("out/a.txt");
  await writeFile(join(base, "home/secret.txt"), "x");
  await symlink(join(base, "home/secret.txt"), join(workspace, "out/link.txt"));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: workspace });
  git("init", "-q");
  git("add", "src", "package.json");
});

afterAll(() => rm(base, { recursive: true, force: true }));

/** `run` if nothing is asked or denied; otherwise what the model or the person reads. */
function said(command: string, changes: Partial<PermissionPolicy> = {}, facts: Partial<DecisionFacts> = {}): string {
  const home = join(base, "home/ada");
  const ownFolders = [join(home, ".config/oxbow")];
  const read = readCommand(command, {
    ...{ workspace, home, ownFolders, links: diskLinks, trees: diskTrees, isQuietRepository: () => true },
    ...{ trackedSecrets: trackedSecrets(workspace), trackedFiles: trackedFiles(workspace) },
  });
  const verdict = decide(
    { ...bash(command, { sandboxed: true, ...facts }), command: read },
    policyWith({ workspace, ownFolders, ...changes }),
  );
  if (verdict.decision === "allow") return "run";
  const text = verdict.decision === "deny" ? denialText(verdict, command) : reasonIn(verdict, command);
  return text.replaceAll(base, "");
}

type Case = readonly [command: string, reason: string];

const OUTSIDE = "outside the workspace, which the sandbox blocks: it only works outside (outside_sandbox).";
const MACHINE = "changes this machine, which the sandbox blocks: it only works outside (outside_sandbox).";
const ENV = "It would show .env: environment files hold secrets.";
const SEARCHED = `${ENV} The grep tool leaves such files out.`;
const NO_ANSWER = "No answer of the user allows it here.";

const AUTO: readonly Case[] = [
  ["grep -rn X src/nope", "run"],
  ["grep -rn X src", "run"],
  ["grep -rn X .", SEARCHED],
  ["grep -rn X", SEARCHED],
  ["rg X", "run"],
  ["rg -uu X", SEARCHED],
  ["ls | head; cat ~/.bashrc", "run"],
  ["cat /etc/passwd", "run"],
  ["cat .env", '".env" may hold secrets.'],
  ["cat src/main.ts; cat .env", 'In "cat .env": ".env" may hold secrets.'],
  ["cp .env x", '".env" may hold secrets.'],
  ["python3 -c 'open(\".env\")'", '".env" may hold secrets.'],
  ["find . -name '*.ts' | xargs cat", 'In "xargs cat": It would follow out/link.txt, which leads to /home/secret.txt.'],
  ["find src -name '*.ts' | xargs cat", "run"],
  ["find . -type f | xargs grep X", `In "xargs grep X": ${SEARCHED}`],
  ["cat $(git ls-files src)", "run"],
  ["cat .e*", ENV],
  ["cat out/link.txt", '"out/link.txt" leads to /home/secret.txt.'],
  ["npm ci && npm test", 'In "npm ci": npm ci needs the network.'],
  ["curl https://example.com", "curl https://example.com needs the network."],
  ["curl http://localhost:3000", "run"],
  ["make && git commit -am x", 'In "git commit -am x": git commit writes .git.'],
  ["git push --force", "git push needs the network and writes .git."],
  ["git checkout -- .", "git checkout writes .git and discards changes that are not committed."],
  ["git clean -fdx", "git clean deletes files that git does not track."],
  ["git status && git diff", "run"],
  ["rm -rf src", "It deletes 31 files that git tracks (src)."],
  ["cd src && rm *.ts", "It deletes 31 files that git tracks (src/*.ts)."],
  ["rm -rf *", '"*" deletes the whole folder.'],
  ["ls | xargs rm", 'In "xargs rm": Oxbow cannot tell what rm deletes: it gets the names from another program.'],
  ['rm -rf "$DIR"', 'Oxbow cannot tell what "$DIR" deletes.'],
  ["rm src/main.ts", "run"],
  ["echo x > /etc/x", `It writes /etc/x, ${OUTSIDE}`],
  ["touch ~/x", `It writes the home folder, ${OUTSIDE}`],
  ["sudo apt install x", `sudo ${MACHINE}`],
  ["mkdir .vscode", ".vscode is guarded: editors run or obey it."],
  ["secret-tool lookup a b", `Denied by blocklist. "secret-tool" shows credentials. ${NO_ANSWER}`],
  ["ls; gh auth token", `Denied by blocklist. In "gh auth token": "gh auth token" shows credentials. ${NO_ANSWER}`],
  [
    "cat ~/.config/oxbow/config.toml",
    `Denied by blocklist. "~/.config/oxbow/config.toml" is among Oxbow's own configuration, credentials and sessions. ${NO_ANSWER}`,
  ],
];

const ASK: readonly Case[] = [
  ["ls | head; cat ~/.bashrc", 'In "cat ~/.bashrc": "~/.bashrc" is in the home folder.'],
  ["ls ~", '"~" is the home folder.'],
  ["cat ../other", '"../other" is outside the workspace.'],
  ["echo $(date)", "It holds the output of another command, which is not known beforehand."],
  ['echo "unfinished', "Oxbow cannot parse the command: a double quote is not closed."],
  ["ls; echo $((1+1)) | tee out.txt", 'In "tee out.txt": "tee" changes files.'],
  ["for f in *; do cat $f; done", 'In "cat $f": The argument $f is not known beforehand.'],
  ["npm test", '"npm" runs code.'],
  ["python3 x.py", '"python3 x.py" is not known to only read.'],
  ["node -e 'process.exit(0)'", '"node -e" is not known to only read.'],
  ["npm ci", "npm ci needs the network."],
  ["curl http://localhost:3000", '"curl" opens connections.'],
  ["git commit -m x", "git commit writes .git."],
  ["git stash", "git stash writes .git and takes changes that are not committed out of the files."],
  ["git -C /tmp status", '"git -C" is not known to only read.'],
  ["git show HEAD:.env", '".env" may hold secrets.'],
  ["rm -rf src", "It deletes 31 files that git tracks (src)."],
  ["rm src/main.ts", '"rm" deletes files.'],
  ["mkdir a", '"mkdir" changes files.'],
  ["sed -i s/a/b/ src/main.ts", '"sed -i" is not known to only read.'],
  ["echo x > out.txt", "It writes to out.txt."],
  ["find src -name '*.o' -delete", '"find -delete" is not known to only read.'],
  ["A=1 ls", "The variable A may change what the command does."],
  ["PATH=/x ls", "The variable PATH may change what the command does."],
  ["xargs -a list make", '"xargs" runs another program.'],
  ["tar xf x.tgz", '"tar" does more than list.'],
  ["./run.sh", '"./run.sh" is not known to only read.'],
  ["$CMD", 'The program "$CMD" is not known beforehand.'],
  ["sleep 600", "It sleeps longer than 60 seconds."],
  ["(cd src; ls)", "It holds a subshell, whose commands are not judged as a whole."],
  ["vim x", '"vim" waits for keys.'],
  ["kill 12", '"kill" ends processes.'],
];

const PLAN_RULE = "Denied by plan mode. Plan mode runs only what is known to read and stays in the workspace.";
const PLAN: readonly Case[] = [
  ["git log --oneline", "run"],
  ["grep -rn X src | head", "run"],
  ["npm test", `${PLAN_RULE} "npm" runs code. Put it in the plan.`],
  ["cat /etc/passwd", `${PLAN_RULE} "/etc/passwd" is outside the workspace. Put it in the plan.`],
  ["rm src/main.ts", `${PLAN_RULE} "rm" deletes files. Put it in the plan.`],
  ["echo x > a", `${PLAN_RULE} It writes to a. Put it in the plan.`],
  ["grep -rn X .", `${PLAN_RULE} ${ENV} Put it in the plan.`],
  [
    'echo "unfinished',
    `${PLAN_RULE} Oxbow cannot parse the command: a double quote is not closed. Put it in the plan.`,
  ],
  ["pass show x", `Denied by blocklist. "pass" shows credentials. ${NO_ANSWER}`],
];

const SAFE: readonly Case[] = [
  ["ls src", "run"],
  ["make", 'Denied by safe mode. "make" is not on the list of safe mode. It permits: ls cat git find'],
  ["ls | wc -l", 'Denied by safe mode. "wc" is not on the list of safe mode. It permits: ls cat git find'],
  ["ls > a", "Denied by safe mode. It writes to a. Commands only read in safe mode."],
  ["LD_PRELOAD=x ls", "Denied by safe mode. It sets LD_PRELOAD, which can change what runs. Leave the variable out."],
  ["find . -exec ls {} +", 'Denied by safe mode. "find -exec" can run other programs or write files.'],
  ["git clean -fdx", 'Denied by safe mode. "git clean -fdx" can run other programs or write files.'],
  [
    'ls "',
    "Denied by safe mode. Oxbow cannot parse the command: a double quote is not closed. Safe mode runs only what it understands.",
  ],
];

describe("[L21 P1] the reason of a denied command is true and names its cause", () => {
  it.each(AUTO)("in mode auto: %s", (command, reason) => {
    expect(said(command, { mode: "auto" }, { contained: true })).toBe(reason);
  });

  it.each(ASK)("in mode ask: %s", (command, reason) => expect(said(command)).toBe(reason));

  it.each(PLAN)("in plan mode: %s", (command, reason) => expect(said(command, {}, { planMode: true })).toBe(reason));

  it.each(SAFE)("in safe mode: %s", (command, reason) => {
    expect(said(command, { mode: "allow", safeMode: { on: true, allowed: ["ls", "cat", "git", "find"] } })).toBe(
      reason,
    );
  });

  it("in mode auto: a text that is too long to be searched for secrets asks, and a shorter one is searched", () => {
    const inAuto = (text: string) => said(text, { mode: "auto" }, { contained: true });
    const padding = "x".repeat(127 * 1024);
    expect(inAuto(`make ${padding}`)).toBe("run");
    expect(inAuto(`cat .env #${padding}`)).toBe("It is longer than 32768 characters.");
    expect(inAuto(`make ${padding}${padding}`)).toBe("It is longer than 32768 characters.");
  });

  verifies(["L21", "P1", "L17"], "and of a subagent that only reads, a path permission, a mode and a file tool", () => {
    expect(said("make", {}, { planMode: "subagent" })).toBe(
      'Denied by read-only subagent. This subagent runs only what is known to read and stays in the workspace. "make" runs code. Say in your answer what should be done.',
    );
    const paths = pathsOf({ [join(workspace, "src")]: "-" });
    expect(said("ls; cat src/main.ts", { paths })).toMatch(
      /^Denied by path permission .* read is not granted for src\/main\.ts/,
    );
    expect(said("ls", { mode: "deny" })).toBe("Denied by mode deny. All tools are switched off.");
    const outside = decide(onPath("read", "../x", { paths: [] }), policyWith());
    expect(outside.decision).toBe("allow");
  });
});
