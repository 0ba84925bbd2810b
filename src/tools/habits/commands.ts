/** Describes how models of other harnesses run commands. */
import { readableShellWord } from "../../base/shell-word.js";
import type { Conversion, ToolHabits } from "../../engine/ports.js";
import type { JsonObject, JsonValue } from "../../protocol/json.js";
import { isFalse, isTrue, listIn, numberIn, same, WORDS, without, words } from "./shared.js";

const FOLDERS = words(`
  cwd workingdir workingdirectory directory dir dirpath currentdirectory folder cd pwd projectpath execdir
`);
const BACKGROUND = words("isbackground background runasbackground async detach detached inbackground");
/** Longer limits of seconds are hardly ever meant: one day is possible, 3,601 and more are milliseconds. */
const MOST_SECONDS = 3600;

export const BASH: ToolHabits = {
  names: words(`
    shell exec_command run_shell_command execute_command run_command run_terminal_cmd run_in_terminal execute_bash
    bash_tool run_bash run_bash_command shell_command local_shell exec execute terminal execute_shell_command
    run_shell shell_exec exec_shell sh command run cmd container_exec containerexec execute_bash_command
    run_terminal_command start_process run_script execute_script bash_command console run_commands
    terminal_create execute_terminal_command shell_tool system run_cmd terminal_command local_shell_call
    launch_process
    git git_status git_diff git_log git_show git_blame git_diff_unstaged git_diff_staged
  `),
  parameters: {
    command: words(`
      cmd script commands command_line commandline bash_command shell_command code bash input_command cmd_string
    `),
    timeout: words("timeout_seconds timeout_secs timeout_sec timeout_s time_limit max_time timeout_in_seconds"),
    run_in_background: BACKGROUND,
    // Not a parameter of ours: it becomes a `cd` that the permissions see.
    workdir: FOLDERS,
    pty: ["tty", "use_pty", "interactive"],
    outside_sandbox: [
      "dangerously_disable_sandbox",
      "with_escalated_permissions",
      "escalate",
      "disable_sandbox",
      "unsandboxed",
    ],
  },
  unused: {
    ...Object.fromEntries(Object.keys(WORDS).map((name) => [name, ""])),
    login: "commands run in a plain shell.",
    ...same(
      "yieldtimems blockuntilms maxwaitseconds delayms",
      "the call waits for the end of the command; run_in_background keeps one running.",
    ),
    id: "every command runs in a new shell.",
    ...same(
      `
      maxoutputtokens maxoutputlength maxoutputchars maxlines
      `,
      "long output is cut in the middle and saved to a file.",
    ),
    ...same(
      "waitmsbeforeasync requiresapproval requireapproval needsapproval safetoautorun prefixrule requireuserapproval",
      "",
    ),
  },
  convert: bashArguments,
};

function bashArguments(given: JsonObject, called: string): Conversion | undefined {
  const sent = called.startsWith("git") ? gitCommand(given, called) : given;
  if (isTrue(sent.restart) && sent.command === undefined)
    return { refused: "Every command runs in a new shell, so there is nothing to restart. Nothing was run." };
  if (isTrue(sent.isinput) || typeof sent.stdin === "string")
    return {
      refused:
        "bash does not type into a running command: give the input in the command (a pipe or a heredoc). Nothing was run.",
    };
  if (isTrue(sent.reset))
    return { refused: "Every command runs in a new shell, so there is nothing to `reset`. Nothing was run." };
  let args = without(sent, "isinput", "restart", "reset");
  const notes: string[] = [];
  if (/^(?:sync|async)$/.test(String(args.mode)))
    args = { ...without(args, "mode"), run_in_background: args.mode === "async" };
  if (args.type === "exec") args = without(args, "type");
  if (/^(?:ba|z|da)?sh$|^shell$/i.test(String(args.language))) args = without(args, "language");
  if (args.description === undefined) {
    const said = ["justification", "explanation", "toolsummary"]
      .map((name) => args[name])
      .find((each) => typeof each === "string");
    if (said !== undefined) args = { ...args, description: said };
  }
  // Cursor starts a command in the background by not waiting for it.
  if (numberIn(args.blockuntilms) === 0) args = { ...without(args, "blockuntilms"), run_in_background: true };
  const shell = args.shell;
  if (shell !== undefined && called !== "shell") {
    if (!/(?:^|\/)(?:ba|da)?sh$|^true$|^$/.test(String(shell)))
      return {
        refused: `bash does not know \`shell\` ${JSON.stringify(shell)}: commands run in bash. Nothing was run.`,
      };
  }
  args = without(args, "shell");
  const permissions = args.sandboxpermissions;
  if (permissions !== undefined) {
    if (permissions === "require_escalated") args = { ...args, outside_sandbox: true };
    else if (permissions !== "use_default")
      return {
        refused: `bash does not know \`sandbox_permissions\` ${JSON.stringify(permissions)}; it takes outside_sandbox and allow; nothing was run.`,
      };
    args = without(args, "sandboxpermissions");
  }
  const waits = ["blocking", "wait", "waitforcompletion", "block"].find((name) => args[name] !== undefined);
  if (waits !== undefined && (isTrue(args[waits]) || isFalse(args[waits]))) {
    if (isFalse(args[waits])) args = { ...args, run_in_background: true };
    args = without(args, waits);
  }
  const limit = timeLimit(args, notes);
  args = limit;
  const command = commandText(args);
  if (typeof command !== "string") {
    if (command !== undefined) return command;
  } else args = { ...without(args, "args", "arguments"), command };
  const { workdir: folder } = args;
  const patched = typeof command === "string" ? patchIn(command, folder) : undefined;
  if (patched !== undefined) return patched;
  if (folder === undefined) return { args, notes };
  args = without(args, "workdir");
  if (isHere(folder) || typeof args.command !== "string") return { args, notes };
  if (typeof folder !== "string")
    return { refused: `bash: the folder must be a text, got ${JSON.stringify(folder)}; nothing was run.` };
  return { args: { ...args, command: inFolder(args.command, folder) }, notes };
}

/** `git_diff_staged`: the words after `git`. */
const GIT_ACTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(words("status diff log show blame").map((action) => [`git${action}`, action])),
  gitdiffunstaged: "diff",
  gitdiffstaged: "diff --staged",
};

/** A call of a tool for git as the command line: `{action: "log", args: ["-n", "5"]}`. */
function gitCommand(sent: JsonObject, called: string): JsonObject {
  const { command, action = command, subcommand = action, operation = subcommand, ...more } = sent;
  const { args, arguments: list = args, options = list, flags = options, ...rest } = without(more, "command");
  const said = typeof operation === "string" ? operation.trim().replace(/^git\s+/, "") : "";
  const meant = GIT_ACTIONS[called] ?? "";
  const line = said.startsWith(meant) ? said : `${meant} ${said}`.trim();
  if (line === "") return sent;
  const named = ["repopath", "repo"].find((name) => typeof rest[name] === "string");
  const repository = named === undefined || isHere(rest[named] ?? "") ? [] : ["-C", shellWord(rest[named])];
  const counted = ["maxcount", "limit", "n"].find((name) => numberIn(rest[name]) !== undefined);
  const revision = ["revision", "target", "commit"].find((name) => typeof rest[name] === "string");
  const path = ["path", "filepath", "file"].find((name) => typeof rest[name] === "string");
  const given = listIn(flags)?.map(shellWord) ?? (typeof flags === "string" ? [flags] : []);
  return {
    ...without(rest, ...[named, counted, revision, path].filter((name) => name !== undefined)),
    command: [
      ...["git", ...repository, line, ...given],
      ...(counted === undefined ? [] : ["-n", String(numberIn(rest[counted]))]),
      ...(revision === undefined ? [] : [shellWord(rest[revision])]),
      ...(path === undefined ? [] : ["--", shellWord(rest[path])]),
    ].join(" "),
  };
}

function shellWord(value: JsonValue | undefined): string {
  const word = String(value);
  return word === "" ? "''" : readableShellWord(word);
}

function isHere(folder: JsonValue): boolean {
  return typeof folder === "string" && /^(?:\.?\/?|\$PWD|\$\(pwd\))$/.test(folder.trim());
}

/** A failed `cd` must not run the command somewhere else. */
function inFolder(command: string, folder: string): string {
  const word = /^~(\/|$)/.test(folder)
    ? `~${pathRest(folder.slice(1))}`
    : readableShellWord(folder.startsWith("-") ? `./${folder}` : folder);
  return /[\n;|&()#]/.test(command) ? `cd ${word} || exit\n${command}` : `cd ${word} && ${command}`;
}

function pathRest(rest: string): string {
  return rest === "" ? "" : readableShellWord(rest);
}

function timeLimit(sent: JsonObject, notes: string[]): JsonObject {
  let args = sent;
  const inMs = ["timeoutms", "timeoutmillis", "timeoutmilliseconds", "hardtimeoutms"].find(
    (name) => args[name] !== undefined,
  );
  if (inMs !== undefined) {
    const ms = numberIn(args[inMs]);
    if (ms !== undefined && args.timeout === undefined) args = { ...without(args, inMs), timeout: ms / 1000 };
  }
  const given = numberIn(args.timeout) ?? secondsOf(args.timeout);
  if (given === undefined) return args;
  // A limit of 0 means none in some harnesses and the default in others.
  if (given <= 0) return without(args, "timeout");
  if (given <= MOST_SECONDS || inMs !== undefined) return { ...args, timeout: given };
  notes.push(`The timeout of ${given} was read as milliseconds: ${given / 1000} s. Send seconds.`);
  return { ...args, timeout: given / 1000 };
}

/** `30s`, `500ms`, `2m`. */
function secondsOf(value: JsonValue | undefined): number | undefined {
  const [, number, unit = ""] =
    /^\s*(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds?|m|min|minutes?)\s*$/i.exec(String(value)) ?? [];
  if (number === undefined) return undefined;
  if (unit.toLowerCase() === "ms") return Number(number) / 1000;
  return Number(number) * (/^m/i.test(unit) ? 60 : 1);
}

/** One command of a text, a list of words, or a program and its arguments. */
function commandText(args: JsonObject): string | Conversion | undefined {
  const { command } = args;
  const list = listIn(command);
  if (list?.every((each) => typeof each === "string")) return fromWords(list as readonly string[]);
  const more = listIn(args.args ?? args.arguments);
  if (typeof command !== "string") return undefined;
  if (more === undefined) return withoutPrompt(FENCED.exec(command)?.[1] ?? command);
  return [command, ...more.map((each) => readableShellWord(String(each)))].join(" ");
}

/** A command as a code block of Markdown, whose quotes a shell would run. */
const FENCED = /^\s*```(?:bash|sh|shell|console|zsh)?[ \t]*\n((?:(?!```)[\s\S])*?)\n?\s*```\s*$/;

/** The prompt of a terminal, as documentation shows it: no command begins so. */
function withoutPrompt(command: string): string {
  const lines = command.split("\n").filter((line) => line.trim() !== "");
  return lines.every((line) => /^\s*\$ +\S/.test(line)) ? command.replaceAll(/^\s*\$ +/gm, "") : command;
}

const SHELLS = /(?:^|\/)(?:bash|sh|zsh|dash)$/;

function fromWords(words: readonly string[]): string | Conversion | undefined {
  const [program = "", ...rest] = words;
  if (SHELLS.test(program) && rest.length > 0) {
    const at = rest.findIndex((word) => /^-[a-z]*c[a-z]*$/.test(word));
    const options = rest.slice(0, at);
    const known =
      at >= 0 && [...options, rest[at] ?? ""].every((word) => /^-[lic]+$|^--(?:login|noprofile|norc)$/.test(word));
    if (known && rest.length === at + 2) return rest[at + 1];
  }
  if (/^(?:applypatch|apply_patch)$/.test(program) && rest.length === 1)
    return `apply_patch <<'PATCH'\n${rest[0]}\nPATCH`;
  // One text with blanks is a whole command, not the name of a program.
  if (rest.length === 0) return program;
  if (/\s/.test(program.trim())) {
    if (!words.some((each) => /[\n;|&#]/.test(each))) return words.join(" && ");
    return { refused: "bash takes one command: join them with && or new lines. Nothing was run." };
  }
  return words.map((word) => (word === "" ? "''" : readableShellWord(word))).join(" ");
}

const HEREDOC =
  /^\s*(?:cd\s+(?<folder>[^\s&;|]+|'[^']*'|"[^"]*")\s*&&\s*)?(?:applypatch|apply_patch)\s*<<-?\s*(?<quote>['"]?)(?<tag>\w+)\k<quote>[ \t]*\n(?<patch>[\s\S]*?)\n\s*\k<tag>\s*$/;
const QUOTED = /^\s*(?:applypatch|apply_patch)\s+(?:'(?<single>[^']*)'|"(?<double>[^"$`\\]*)")\s*$/;

/** A command that calls `apply_patch` and does nothing else is that tool. Its paths begin at the folder of the command. */
function patchIn(command: string, workdir: JsonValue | undefined): Conversion | undefined {
  if (!/apply_?patch/.test(command)) return undefined;
  const heredoc = HEREDOC.exec(command)?.groups;
  const quoted = QUOTED.exec(command)?.groups;
  const patch = heredoc?.patch ?? quoted?.single ?? quoted?.double;
  if (patch === undefined) {
    if (!/(?:^|[\n;|&(])\s*apply_?patch\s*<<|\|\s*apply_?patch\s*$/m.test(command)) return undefined;
    return {
      refused: "apply_patch is a tool here: call it with `patch`, and other commands with bash. Nothing was run.",
    };
  }
  const folders = [workdir, heredoc?.folder?.replace(/^(['"])(.*)\1$/, "$2")].filter(
    (each): each is string => typeof each === "string" && !isHere(each),
  );
  const [folder] = folders;
  if (folder === undefined) return { tool: "apply_patch", args: { patch } };
  if (folders.length === 1 && !/[$`~\\*?]/.test(folder)) {
    const moved = patch.replaceAll(PATCH_PATH, (whole, head: string, path: string) =>
      path.startsWith("/") ? whole : `${head}${folder.replace(/\/+$/, "")}/${path}`,
    );
    if (moved !== patch) return { tool: "apply_patch", args: { patch: moved } };
    if (/^\*\*\* (?:Add|Update|Delete) File: \//m.test(patch)) return { tool: "apply_patch", args: { patch } };
  }
  return {
    refused:
      "apply_patch is a tool here, and its paths begin at the workspace: call it with `patch`, without a folder. Nothing was run.",
  };
}

const PATCH_PATH = /^(\*\*\* (?:Add File|Update File|Delete File|Move to): )(.+)$/gm;

/* ---- background ---- */

const KILLS = words(`
  killbash killshell taskstop killprocess forceterminate stopprocess killterminal jobkill shellkillprocess terminalkill
`);

export const BACKGROUND_HABITS: ToolHabits = {
  names: words(`
    bash_output kill_bash kill_shell task_output task_stop kill_process read_background_output write_stdin
    interact_with_process get_terminal_output read_process_output force_terminate list_sessions list_processes stop_process
    command_status read_command_output bash_status get_command_output kill_terminal read_output check_background
    process agent_output list_background_processes read_process job_output job_kill shell_view shell_wait
    shell_kill_process shell_write_to_process read_terminal read_terminal_output terminal_output send_command_input
    await await_shell terminal_kill
  `),
  parameters: {
    id: words(`
      bash_id shell_id session_id task_id process_id terminal_id command_id pid background_id job_id
      execution_id
    `),
    wait: words("wait_seconds timeout seconds wait_for timeout_seconds wait_duration_seconds"),
    kill: ["stop", "terminate", "force_kill"],
  },
  unused: {
    ...WORDS,
    ...same("filter search lines", "the whole new output is shown."),
    ...same("maxoutputtokens outputcharactercount", "long output is cut in the middle and saved to a file."),
    outputpriority: "",
    ...same("offset limit", "the new output is shown."),
    signal: "the command is asked to end, and is killed then.",
    maxwaitseconds: "",
    pressenter: "",
    name: "",
  },
  convert(sent, called) {
    let args = typeof sent.id === "number" ? { ...sent, id: String(sent.id) } : sent;
    const typed = ["chars", "input", "text", "data", "stdin"].find(
      (name) => typeof args[name] === "string" && args[name] !== "",
    );
    if (typed !== undefined && args[typed] !== "\u0003")
      return {
        refused:
          "background does not type into a running command: give the input in the command of bash (a pipe or a heredoc). Nothing was run.",
      };
    if (typed !== undefined) args = { ...args, kill: true };
    args = without(args, "chars", "input", "text", "data", "stdin");
    if (KILLS.includes(called)) args = { ...args, kill: true };
    // Claude Code counts the wait for a task in milliseconds.
    const isMs = ["taskoutput", "agentoutput", "bashoutput"].includes(called);
    const ms = numberIn(
      args.yieldtimems ?? args.timeoutms ?? args.blockuntilms ?? args.delayms ?? (isMs ? args.wait : undefined),
    );
    if (ms !== undefined && (isMs || args.wait === undefined)) args = { ...args, wait: ms / 1000 };
    args = without(args, "yieldtimems", "timeoutms", "blockuntilms", "delayms");
    const notes: string[] = [];
    const wait = numberIn(args.wait);
    if (isFalse(args.block)) args = without(args, "wait");
    else if (isTrue(args.block) && wait === undefined) args = { ...args, wait: 30 };
    args = without(args, "block");
    if (wait === undefined && isTrue(args.wait)) args = { ...args, wait: 600 };
    else if (isFalse(args.wait)) args = without(args, "wait");
    if (numberIn(args.wait) !== undefined && wait !== undefined && wait > MOST_SECONDS) {
      notes.push(`The ${wait} was read as milliseconds: ${wait / 1000} s. Send seconds.`);
      args = { ...args, wait: wait / 1000 };
    }
    return { args, notes };
  },
};
