/** docs/reference.md as the registries have it: settings, variables, flags, slash commands, tools, failure reasons. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RUN_FLAGS } from "../../src/cli/commands/run-flags.js";
import { exitCodeOf } from "../../src/cli/exit-codes.js";
import { GIVEN_VARIABLES, KNOWN_VARIABLES } from "../../src/cli/known-variables.js";
import { usageOf } from "../../src/commands/usage.js";
import { agentTool } from "../../src/extensions/subagents/definition.js";
import { mayUse } from "../../src/feature/command.js";
import { parseFlags } from "../../src/feature/flags.js";
import { FAILURE_REASONS, failure, isLimit } from "../../src/protocol/errors.js";
import { HELP_GROUPS, helpGroupOf, SESSION_SPECS } from "../../src/runtime/commands/catalogue.js";
import { CLIENT_COMMANDS } from "../../src/runtime/commands/specs.js";
import { settingKeys, settingRows } from "../../src/runtime/settings/setting-rows.js";
import { loadSettings } from "../../src/runtime/settings/settings.js";
import { CATALOG } from "../../src/tools/catalog.js";

const HEAD = `# Reference

<!-- generated: OXBOW_WRITE_REFERENCE=1 npx vitest run test/library/reference.test.ts -->

Everything with a name, from the same lists that the program uses. The guides explain how things are used: [README.md](README.md) lists them. The commands of the command line are in
\`oxbow help\`, events and routes of the protocol in [protocol.md](protocol.md).`;

export async function referencePage(): Promise<string> {
  return `${[HEAD, await settings(), variables(), flags(), slashCommands(), tools(), failures()].join("\n\n")}\n`;
}

function section(title: string, text: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  const table = [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
  return [`## ${title}`, text, table].filter((part) => part !== "").join("\n\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replace(/<([\w/-]+)>/g, "*$1*");
}

const code = (text: string) => (text === "" ? "" : `\`${text}\``);

async function settings(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "oxbow-test-"));
  const { settings: read } = await loadSettings(parseFlags(RUN_FLAGS, [], "run"), { OXBOW_HOME: home });
  await rm(home, { recursive: true });
  const defaults = new Map(settingRows(read).map(([key, value]) => [key, value]));
  const rows = settingKeys().map(({ key, about, project, guide, holds }) => {
    const usual = defaults.get(key) ?? "";
    return [
      code(key),
      about,
      /^$|^\(none\)$/.test(usual) ? "" : code(usual),
      project,
      holds,
      `[${guide}](${guide}.md)`,
    ];
  });
  const own = ["schema_version", "name", "description"].map((key) => [
    code(key),
    "of the profile itself",
    "",
    "sets it",
    "[settings](settings.md)",
  ]);
  const text =
    "`~/.config/oxbow/config.toml`, profiles and `.oxbow/config.toml` of a project have these keys. `oxbow config keys` lists them, `oxbow config show` prints the values with their origin.";
  return section(
    "Settings",
    text,
    ["key", "what it does", "default", "a project", "holds for", "guide"],
    [...rows, ...own],
  );
}

function variables(): string {
  const rowsOf = (all: typeof KNOWN_VARIABLES) => all.map(({ name, meaning }) => [code(name), meaning]);
  const read =
    "`oxbow help environment` lists them too, with those of your own providers. A flag overrides a variable, a variable a setting.";
  return [
    section("Environment variables that Oxbow reads", read, ["variable", "meaning"], rowsOf(KNOWN_VARIABLES)),
    section(
      "Environment variables that Oxbow sets",
      "For programs that it starts.",
      ["variable", "meaning"],
      rowsOf(GIVEN_VARIABLES),
    ),
  ].join("\n\n");
}

function flags(): string {
  const shown = RUN_FLAGS.filter(({ hidden }) => hidden !== true);
  const rows = shown.map(({ name, short, value, help }) => {
    const written = `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
    return [code(written), help];
  });
  return section("Flags of `oxbow` and `oxbow run`", "", ["flag", "meaning"], rows);
}

function slashCommands(): string {
  const known = new Map([...SESSION_SPECS, ...CLIENT_COMMANDS].map((spec) => [spec.name, spec]));
  const groups = HELP_GROUPS.flatMap((group) => {
    const specs = [...known.values()].filter((spec) => helpGroupOf(spec) === group);
    if (specs.length === 0) return [];
    const rows = specs.map((spec) => {
      const people = mayUse(spec, "agents") ? "people, agents" : "people";
      return [code(usageOf(spec, { surface: "slash" })), spec.summary, people];
    });
    return [section(group, "", ["command", "what it does", "who"], rows).replace(/^## /, "### ")];
  });
  return ["## Slash commands", ...groups].join("\n\n");
}

function tools(): string {
  const all = [...Object.values(CATALOG), agentTool([], { cheap: true })];
  const rows = all.map(({ name, set, mutating, description }) => {
    const [first = ""] = description.split("\n");
    return [code(name), set ?? "", mutating ? "yes" : "no", first];
  });
  const text =
    "`oxbow tools` lists those of a folder, with which calls run without asking. Skills, memory, recall and knowledge bring tools of their own when they are in use.";
  return section(
    "Tools of the model",
    text,
    ["tool", "set", "changes files or starts programs", "as the model reads it"],
    rows,
  );
}

function failures(): string {
  const rows = FAILURE_REASONS.map((reason) => {
    const { message } = failure(reason);
    const outcome = isLimit(reason) ? "limit" : "failed";
    const ended = { outcome, failure: failure(reason) } as unknown as Parameters<typeof exitCodeOf>[0];
    const exit = reason === "PermissionUnanswerable" ? 4 : reason === "SessionAborted" ? 1 : exitCodeOf(ended);
    return [code(reason), String(exit), message];
  });
  const text = [
    "Programs read the reason; the text is for people. `failure.reason` in JSON output and in the protocol has it, the exit code is that of `oxbow run`.",
    "Other exit codes: 0 answered, 130 cancelled.",
  ].join(" ");
  return section("Failure reasons", text, ["reason", "exit code", "message"], rows);
}
