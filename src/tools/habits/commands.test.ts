import { describe, expect, it } from "vitest";
import type { Tool, ToolRegistry } from "../../engine/ports.js";
import { readCall } from "../../engine/read-call.js";
import { CATALOG } from "../catalog.js";

const TOOLS = [CATALOG.bash, CATALOG.apply_patch] as unknown as readonly Tool[];
const REGISTRY: ToolRegistry = { list: () => TOOLS, find: (name) => TOOLS.find((tool) => tool.name === name) };

/** The command, or the arguments where there are more; the beginning of a refusal. */
function meant(args: object, tool = "bash"): unknown {
  const read = readCall(REGISTRY, { tool, args: args as never });
  if (read.refused !== undefined) return `refused: ${read.refused}`;
  const { command, ...more } = read.args;
  const own = Object.keys(more).length === 0 ? command : read.args;
  return read.tool === "bash" ? own : { [read.tool]: read.args };
}

describe("[L21] a command in the words of other harnesses", () => {
  it.each([
    [{ command: ["bash", "-lc", "ls | wc"] }, "ls | wc"],
    [{ command: ["/bin/sh", "-l", "-c", "ls"] }, "ls"],
    [{ command: ["bash", "--noprofile", "-c", "ls"] }, "ls"],
    [{ command: ["bash", "-x", "-c", "ls"] }, "bash -x -c ls"],
    [{ command: ["bash", "-c", "echo $0", "me"] }, "bash -c 'echo $0' me"],
    [{ command: ["bash", "run.sh"] }, "bash run.sh"],
    [{ command: ["bash"] }, "bash"],
    [{ command: ["git", "commit", "-m", "a b", ""] }, "git commit -m 'a b' ''"],
    [{ command: ["make test"] }, "make test"],
    [{ command: ["make test", "make lint"] }, "make test && make lint"],
    [{ command: ["make test; ls", "make lint"] }, "refused: bash takes one command"],
    [{ command: "ls", args: ["-l", "a b"] }, "ls -l 'a b'"],
    [{ command: "```bash\nls\npwd\n```" }, "ls\npwd"],
    [{ command: "```\nls\n```\n" }, "ls"],
    [{ command: "echo ```" }, "echo ```"],
    [{ command: "$ ls\n\n$ pwd" }, "ls\npwd"],
    [{ command: "$ ls\nout" }, "$ ls\nout"],
    [{ command: "ls", cwd: "src" }, "cd src && ls"],
    [{ command: "ls", cwd: "a b" }, "cd 'a b' && ls"],
    [{ command: "ls; pwd", cwd: "src" }, "cd src || exit\nls; pwd"],
    [{ command: "ls", cwd: "-x" }, "cd ./-x && ls"],
    ...["", ".", "./", "/", "$PWD", "$(pwd)", " . "].map((cwd) => [{ command: "ls", cwd }, "ls"] as const),
    [{ command: "ls", cwd: 3 }, "refused: bash: the folder must be a text, got 3; nothing was run."],
    [{ command: "ls", shell: "/bin/zsh" }, 'refused: bash does not know `shell` "/bin/zsh"'],
    [{ command: "ls", shell: "/bin/dash" }, "ls"],
    [{ command: "ls", shell: true }, "ls"],
    [{ command: "ls", sandbox_permissions: "use_default" }, "ls"],
    [
      { command: "ls", sandbox_permissions: "require_escalated" },
      { command: "ls", outside_sandbox: true },
    ],
    [{ command: "ls", sandbox_permissions: "all" }, 'refused: bash does not know `sandbox_permissions` "all"'],
    [{ command: "ls", blocking: true }, "ls"],
    [
      { command: "ls", wait: false },
      { command: "ls", run_in_background: true },
    ],
  ] as readonly (readonly [object, unknown])[])("%j is %j", (args, expected) => {
    const found = meant(args);
    if (typeof expected === "string" && expected.startsWith("refused")) expect(found).toContain(expected);
    else expect(found).toEqual(expected);
  });

  it.each([
    [{ timeout: 30 }, 30],
    [{ timeout: "30" }, 30],
    [{ timeout: 3_600 }, 3_600],
    [{ timeout: 3_601 }, 3.601],
    [{ timeout: 120_000 }, 120],
    [{ timeout: 0 }, undefined],
    [{ timeout: -1 }, undefined],
    [{ timeout: "30s" }, 30],
    [{ timeout: "500ms" }, 0.5],
    [{ timeout: "2m" }, 120],
    [{ timeout: "2 minutes" }, 120],
    [{ timeout: "1.5 seconds" }, 1.5],
    [{ timeout_ms: 5_000 }, 5],
    [{ timeoutMs: 9_000_000 }, 9_000],
    [{ timeout_ms: 5_000, timeout: 7 }, 7],
  ])("a limit of %j is %j seconds", (args, expected) => {
    const { args: read } = readCall(REGISTRY, { tool: "bash", args: { command: "ls", ...args } as never });
    expect(read.timeout).toBe(expected);
  });

  it("says when a limit was read as milliseconds", () => {
    const notes = (timeout: number) => readCall(REGISTRY, { tool: "bash", args: { command: "ls", timeout } }).notes;
    expect(notes(120_000)).toEqual(["The timeout of 120000 was read as milliseconds: 120 s. Send seconds."]);
    expect(notes(3_600)).toEqual([]);
  });

  const PATCH = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch";
  const inSrc = PATCH.replace("a.txt", "src/a.txt");
  it.each([
    [["apply_patch", PATCH], {}, PATCH],
    [["applypatch", PATCH], {}, PATCH],
    [`apply_patch <<'EOF'\n${PATCH}\nEOF`, {}, PATCH],
    [`apply_patch <<EOF\n${PATCH}\nEOF\n`, {}, PATCH],
    [`apply_patch '${PATCH}'`, {}, PATCH],
    [`cd src && apply_patch <<'EOF'\n${PATCH}\nEOF`, {}, inSrc],
    [`cd "src/" && apply_patch <<'EOF'\n${PATCH}\nEOF`, {}, inSrc],
    [`apply_patch <<'EOF'\n${PATCH}\nEOF`, { cwd: "src" }, inSrc],
    [`cd . && apply_patch <<'EOF'\n${PATCH}\nEOF`, {}, PATCH],
    [`cd src && apply_patch <<'EOF'\n${PATCH.replace("a.txt", "/a.txt")}\nEOF`, {}, PATCH.replace("a.txt", "/a.txt")],
  ] as const)("%j with %j is the tool apply_patch", (command, more, patch) => {
    expect(meant({ command, ...more })).toEqual({ apply_patch: { patch } });
  });

  it.each([
    [`cd src && apply_patch <<'EOF'\n${PATCH}\nEOF`, { cwd: "lib" }, "without a folder"],
    [`cd $X && apply_patch <<'EOF'\n${PATCH}\nEOF`, {}, "without a folder"],
    [`ls\napply_patch <<'EOF'\n${PATCH}\nEOF\nls`, {}, "other commands with bash"],
    ["cat a.patch | apply_patch", {}, "other commands with bash"],
  ])("%j with %j is refused", (command, more, words) => {
    expect(meant({ command, ...more })).toMatch(new RegExp(`^refused: .*${words}`));
  });

  it.each([
    [{ command: "grep apply_patch ." }, "bash", "grep apply_patch ."],
    [{ command: ["apply_patch", "--help", "x"] }, "bash", "apply_patch --help x"],
    [{ action: "log", args: ["-n", "5"] }, "git", "git log -n 5"],
    [{ args: ["a b"] }, "git_show", "git show 'a b'"],
    [{}, "git_diff_staged", "git diff --staged"],
    [{ max_count: 3 }, "git_log", "git log -n 3"],
    [{ repo_path: "lib", revision: "v1", path: "a.txt" }, "git_show", "git -C lib show v1 -- a.txt"],
    [{ repo_path: ".", flags: "--stat" }, "git_diff", "git diff --stat"],
    [{ command: "git status" }, "git", "git status"],
  ] as const)("%j of %s is %j", (args, tool, command) => {
    expect(meant(args, tool)).toEqual(command);
  });
});
