import { spawnSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect } from "vitest";
import { skipWithout } from "../support/needs.js";
import { oxbow, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const PROGRAM = resolve(import.meta.dirname, "../../oxbow");

/** Runs a script of a shell where `oxbow` is on the path and `notes.md` in the folder. */
async function inShell(shell: string, args: readonly string[]): Promise<string> {
  const home = await temporaryFolder();
  const bin = join(home, "bin");
  await mkdir(bin);
  await symlink(PROGRAM, join(bin, "oxbow"));
  await writeFile(join(home, "notes.md"), "");
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: home, OXBOW_HOME: join(home, "oxbow"), TERM: "dumb" };
  const { stdout, stderr } = spawnSync(shell, args, { cwd: home, env, encoding: "utf8", timeout: 60_000 });
  expect(stderr).toBe("");
  return stdout.trimEnd();
}

/** Tells what bash would offer for a line: the function that `complete` names is called as bash calls it. */
async function offeredInBash(lines: readonly string[]): Promise<readonly string[][]> {
  const calls = lines.map(
    (line) => `COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}; "$handler" oxbow; echo "\${COMPREPLY[*]}"`,
  );
  const script = [
    "source <(oxbow completion bash)",
    "compopt() { :; }",
    "handler=$(complete -p oxbow | sed 's/.*-F \\([^ ]*\\) .*/\\1/')",
    ...calls,
  ].join("\n");
  const stdout = await inShell("bash", ["--norc", "-c", script]);
  return stdout.split("\n").map((line) => line.split(" ").filter(Boolean));
}

/** The lines after the tab key, in an interactive zsh on a terminal of its own. */
async function completedInZsh(lines: readonly string[]): Promise<readonly string[]> {
  const setUp = [
    "PS1= PS2= RPS1=",
    "unsetopt zle_bracketed_paste prompt_cr prompt_sp beep",
    "autoload -Uz compinit",
    "compinit -u -D",
    "source <(oxbow completion zsh)",
    'shown() { print -rn -- "<line:$BUFFER>"; BUFFER= }',
    "zle -N shown",
    "bindkey '^I' complete-word '^X' shown",
    "print rea''dy",
  ].join("; ");
  const script = [
    "zmodload zsh/zpty",
    "zpty z zsh -f -i",
    `zpty -w z ${quoted(setUp)}`,
    "zpty -r z out '*ready*'",
    ...lines.flatMap((line) => [
      `zpty -w -n z ${quoted(line)}$'\\t\\x18'`,
      "zpty -r z out '*<line:*>*'",
      'print -r -- "${${out##*<line:}%%>*}"',
    ]),
    "zpty -d z",
  ].join("\n");
  return (await inShell("zsh", ["-f", "-c", script])).split("\n").map((line) => line.trimEnd());
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

async function offeredInFish(lines: readonly string[]): Promise<readonly string[][]> {
  const calls = lines.map((line) => `complete -C ${JSON.stringify(line)}; echo ---`);
  const stdout = await inShell("fish", ["--no-config", "-c", ["oxbow completion fish | source", ...calls].join("\n")]);
  const blocks = stdout.split(/^---$/m).slice(0, lines.length);
  return blocks.map((block) => block.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""])));
}

describe("oxbow completion", () => {
  verifies(["U10"], "completes in bash, also behind ':' and '='", async () => {
    expect(
      await offeredInBash([
        "oxbow perm",
        "oxbow route a",
        "oxbow cost --by=d",
        "oxbow --model offline:o",
        "oxbow permissions set no",
        "oxbow bench --ru",
        "oxbow sessions unp",
        "oxbow creds a",
      ]),
    ).toEqual([["permissions"], ["add"], ["day"], ["offline"], ["notes.md"], ["--runs"], ["unpin"], ["add"]]);
  });

  verifies(["U10"], "completes in zsh, on a terminal", async ({ skip }) => {
    skipWithout({ skip }, "zsh");
    expect(
      await completedInZsh([
        "oxbow perm",
        "oxbow cost --by=d",
        "oxbow --model offline:o",
        "oxbow permissions set no",
        "oxbow /hel",
      ]),
    ).toEqual([
      "oxbow permissions",
      "oxbow cost --by=day",
      "oxbow --model offline:offline",
      "oxbow permissions set notes.md",
      "oxbow /help",
    ]);
  });

  verifies(["U10"], "completes in fish", async ({ skip }) => {
    skipWithout({ skip }, "fish");
    expect(
      await offeredInFish([
        "oxbow perm",
        "oxbow route a",
        "oxbow cost --by=d",
        "oxbow --model offline:o",
        "oxbow permissions set no",
        "oxbow session unp",
        "oxbow auth unl",
        "oxbow /hel",
      ]),
    ).toEqual([
      ["permissions"],
      ["add"],
      ["--by=day"],
      ["offline:offline"],
      ["notes.md"],
      ["unpin"],
      ["unlock"],
      ["/help"],
    ]);
  });

  verifies(["U10"], "prints a script for each shell, and refuses others", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { stdout, code } = await oxbow(["completion", shell]);
      expect([code, stdout]).toEqual([0, expect.stringContaining("completion candidates --")]);
    }
    expect(await oxbow(["completion", "tcsh"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("give bash, zsh or fish"),
    });
  });
});
