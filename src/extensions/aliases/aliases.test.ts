import { describe, expect, it } from "vitest";
import { verifies } from "../../../test/verifies.js";
import type { ExtensionFile, ExtensionScope } from "../../base/extension-files.js";
import { CommandRegistry, helpCommand, runSlash } from "../../commands/registry.js";
import type { Command, CommandContext, CommandSpec } from "../../feature/command.js";
import { aliasCommands } from "./commands.js";

const CONTEXT: CommandContext = {
  surface: "slash",
  signal: new AbortController().signal,
  progress: () => {},
  warn: () => {},
  write: async () => {},
};

function file(text: string, scope: ExtensionScope): ExtensionFile {
  const path = `/${scope}/aliases.toml`;
  const facts = { kind: "alias", scope, path, source: `/${scope}`, name: "aliases.toml", executable: false } as const;
  return { ...facts, sha256: "", read: async () => text, program: async () => path };
}

function echo(name: string, spec: Partial<CommandSpec> = {}): Command {
  return {
    name,
    summary: name,
    arguments: [{ name: "WORDS", kind: "line", optional: true, rest: "text" }],
    reaches: "session",
    users: ["people", "agents"],
    places: ["between turns"],
    ...spec,
    run: (args) => ({ text: `${name}(${args.text("WORDS") ?? ""})`, value: null }),
  };
}

const COMMANDS = [
  echo("cost"),
  echo("skills:pdf"),
  echo("permissions:list", { aliases: ["permissions"] }),
  echo("permissions:set", { users: ["people"] }),
  echo("safemode:on", { users: ["people"] }),
  echo("mode", { users: ["people"] }),
  echo("budget", { users: ["people"] }),
  echo("clear", { places: ["in a client"] }),
];

async function registryWith(texts: { readonly user?: string; readonly project?: string }) {
  const problems: string[] = [];
  const known = new CommandRegistry();
  known.register(helpCommand({ ...echo("help"), arguments: [] }, known), ...COMMANDS);
  const files = [
    ...(texts.user === undefined ? [] : [file(texts.user, "user")]),
    ...(texts.project === undefined ? [] : [file(texts.project, "project")]),
  ];
  const commands = await aliasCommands(files, {
    known,
    report: (problem) => problems.push(problem),
    asPrompt: async (_command, expand) => expand(),
  });
  known.register(...commands);
  const run = async (line: string, identity: "human" | "agent" = "human") => {
    const result = await runSlash(known, line, { identity, context: CONTEXT, busy: false });
    if ("failure" in result) return result.failure.message;
    return result.turn === undefined ? result.text : { prompt: result.turn.input };
  };
  return { run, problems, names: commands.map(({ name }) => name), known };
}

describe("aliases", () => {
  verifies(["U6"], "stand for commands and prompts, with arguments", async () => {
    const { run, problems } = await registryWith({
      user: `
[aliases]
c = "/cost"
pdf = "/skills:pdf --fast"
swap = "/cost $2 $1 costs $$5"
all = { run = "Explain: $@", description = "explains" }
two = "/c x"
`,
    });
    expect(problems).toEqual([]);
    expect(await run("c")).toBe("cost()");
    expect(await run('c "a b" c')).toBe('cost("a b" c)');
    expect(await run("pdf page 3")).toBe("skills:pdf(--fast page 3)");
    expect(await run('swap "a b" c')).toBe("cost(c a b costs $5)");
    expect(await run("swap a")).toContain("/swap needs 2 arguments, because it stands for: /cost $2 $1");
    expect(await run("two y")).toBe("cost(x y)");
    expect(await run("all the /things here")).toEqual({
      prompt: [{ type: "text", text: "Explain: the /things here" }],
    });
  });

  verifies(["U6"], "never take the name of a command, and never stand for themselves", async () => {
    const { names, problems } = await registryWith({
      user: `
[aliases]
cost = "/skills:pdf"
skills = "/cost"
"permissions:all" = "/cost"
COST = "/cost"
a = "/b"
b = "/c x"
c = "/a"
d = "/d"
bye = "/clear"
sh = "!rm -rf x"
"two words" = "/cost"
n = 3
any = "/$1 x"
ok = "/cost"
`,
    });
    expect(names).toEqual(["ok"]);
    expect(problems).toHaveLength(13);
    expect(problems.join("\n")).toContain('alias "a" is left out: it stands for itself: /a → /b → /c → /a.');
    expect(problems.join("\n")).toContain('/user/aliases.toml: alias "cost" is left out: /cost is a command already.');
  });

  verifies(["U6", "P10"], "widen no rights; a project's cannot run what only people may", async () => {
    const { run, problems, names } = await registryWith({
      user: '[aliases]\nspend = "/budget"\nmine = "/cost"\n',
      project: '[aliases]\nopen = "/budget off"\nmine = "Be kind."\n$bad = "x"\n',
    });
    expect(problems).toEqual([expect.stringContaining("/project/aliases.toml: Invalid TOML document")]);
    expect(names).toEqual(["spend", "mine"]);
    expect(await run("spend y")).toBe("budget(y)");
    expect(await run("spend y", "agent")).toContain("is for people, not for agents");
    const other = await registryWith({
      user: '[aliases]\nmine = "/cost"\n',
      project: '[aliases]\nopen = "/budget off"\nmine = "Be kind."\n',
    });
    expect(other.names).toEqual(["mine"]);
    expect(other.problems.join()).toContain("a project cannot give a name to /budget, which only people may use");
    expect(await other.run("mine")).toEqual({ prompt: [{ type: "text", text: "Be kind." }] });
  });

  verifies(["U6", "P10"], "never stand for a command about permissions, also not through another alias", async () => {
    const targets = [
      "/permissions",
      "/permissions set x allow",
      "/permissions:set",
      "/safemode on",
      "/mode auto",
      "/c0",
    ];
    const lines = targets.map((target, at) => `c${at} = "${target}"`).join("\n");
    for (const scope of ["user", "project"] as const) {
      const { names, problems } = await registryWith({ [scope]: `[aliases]\n${lines}\nok = "/cost"\n` });
      expect(names).toEqual(["ok"]);
      expect(problems).toHaveLength(targets.length);
      for (const problem of problems)
        expect(problem).toContain("is about permissions, and an alias cannot stand for it");
    }
    // The words that follow decide which command it is.
    const { names, run } = await registryWith({ user: '[aliases]\nsly = "/safemode $@"\n' });
    expect(names).toEqual(["sly"]);
    expect(await run("sly on")).toContain("is about permissions, so an alias cannot run it");
  });

  it("are in the help with what they stand for", async () => {
    const { run } = await registryWith({
      user: '[aliases]\nhi = { run = "Say hello to $1", description = "greets" }\n',
    });
    expect(await run("help")).toMatch(/\/hi ARGUMENTS +greets: Say hello to \$1 \(alias, user\)/);
  });
});
