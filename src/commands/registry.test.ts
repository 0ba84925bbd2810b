import { describe, expect, it } from "vitest";
import { processorMs } from "../../test/support/processor-time.js";
import { verifies } from "../../test/verifies.js";
import { type Command, type CommandSpec, mayUse, refuse, spell, worksOn } from "../feature/command.js";
import { subject } from "../providers/selection/commands.js";
import { HELP_GROUPS, helpGroupOf, SESSION_SPECS } from "../runtime/commands/catalogue.js";
import { SESSION_RESUME } from "../runtime/commands/sessions/specs.js";
import { HELP } from "../runtime/commands/specs.js";
import { parseLine } from "./arguments.js";
import { CommandRegistry, helpCommand, runSlash } from "./registry.js";
import { CONTEXT, slashLine } from "./test-support/slash-line.js";
import { usageOf } from "./usage.js";

const base = { reaches: "session", users: ["people", "agents"], places: ["during a turn", "between turns"] } as const;

/** Answers with its arguments. */
function echo(spec: Partial<CommandSpec> & { readonly name: string }): Command {
  const command: CommandSpec = { summary: "echo it", ...base, ...spec };
  return {
    ...command,
    run: (args) => {
      const texts = Object.fromEntries((command.arguments ?? []).map(({ name }) => [name, args.text(name) ?? null]));
      return { text: spec.name, value: texts };
    },
  };
}

const GROUP = [
  echo({ name: "route:list", aliases: ["route"] }),
  echo({
    name: "route:add",
    arguments: [
      { name: "NAME", kind: "text" },
      { name: "MODEL", kind: "text", rest: "list" },
    ],
  }),
];

describe("names", () => {
  const say = slashLine(...GROUP, echo({ name: "exit", aliases: ["quit"] }), echo({ name: "permissions:safemode:on" }));

  it.each([
    ["route", "route:list"],
    ["route list", "route:list"],
    ["route:list", "route:list"],
    ["route add fast openai:a ollama:b", "route:add"],
    ["route:add fast openai:a", "route:add"],
    ["quit", "exit"],
    ["permissions safemode on", "permissions:safemode:on"],
  ])("%j is %s", async (line, name) => {
    expect(await say(line)).toMatchObject({ ok: true, text: name });
  });

  it.each([
    ["rotue", "There is no command /rotue. Did you mean /route?"],
    ["zzz", "There is no command /zzz. /help lists them."],
    ["route ad x y", "There is no '/route ad'. Did you mean '/route add'?"],
    ["route frobnicate", "There is no '/route frobnicate'. Usage: /route [list | add NAME MODEL…]"],
    ["permissions", "Usage: /permissions safemode on"],
    ["route add", "NAME is missing. Usage: /route add NAME MODEL…"],
    ["route list now", "'/route list' takes no arguments. Usage: /route list"],
    ["", "There is no command /. /help lists them."],
    ["constructor", "There is no command /constructor. /help lists them."],
  ])("%j is refused", async (line, message) => {
    expect(await say(line)).toEqual({ ok: false, text: message });
  });

  it("are spelled as they are typed", () => {
    expect(spell("route:add", { surface: "slash" })).toBe("/route add");
    expect(spell("route:add", { surface: "shell" })).toBe("oxbow route add");
  });

  it("of a later registration win", async () => {
    const again: Command = { ...echo({ name: "exit" }), run: () => refuse("replaced") };
    expect(await slashLine(echo({ name: "exit" }), again)("exit")).toMatchObject({ ok: false, text: "replaced" });
  });
});

describe("arguments", () => {
  const read = (spec: Partial<CommandSpec>, line: string) => {
    const args = parseLine({ name: "x", summary: "", ...base, ...spec }, line);
    return "failure" in args ? args.failure.message : args;
  };
  const text = (spec: Partial<CommandSpec>, line: string, name: string) => {
    const args = read(spec, line);
    return typeof args === "string" ? args : args.text(name);
  };
  const REST = { arguments: [{ name: "TEXT", kind: "text", rest: "text" }] } as const;

  it("keep the rest as it was typed, and take one pair of quotation marks off", () => {
    expect(text(REST, `git commit -m "a  b"`, "TEXT")).toBe(`git commit -m "a  b"`);
    expect(text(REST, `"git push"`, "TEXT")).toBe("git push");
    expect(text({ arguments: [{ name: "TEXT", kind: "line", rest: "text" }] }, `"my program"`, "TEXT")).toBe(
      `"my program"`,
    );
    expect(text(REST, `it's fine`, "TEXT")).toBe("it's fine");
    expect(text(REST, `"a" and "b"`, "TEXT")).toBe(`"a" and "b"`);
  });

  it("may stand behind one that takes the rest", () => {
    const set = {
      arguments: [
        { name: "PATH", kind: "path", rest: "text" },
        { name: "PERMS", kind: "text" },
      ],
    } as const;
    expect(text(set, "my notes rw", "PATH")).toBe("my notes");
    expect(text(set, `"my notes" rw`, "PERMS")).toBe("rw");
    expect(text(set, "rw", "PATH")).toBe("PATH is missing. Usage: /x PATH PERMS");
  });

  it("are checked by their kind", () => {
    const number = { arguments: [{ name: "N", kind: "number", optional: true }] } as const;
    expect(text(number, "12", "N")).toBe("12");
    expect(text(number, "", "N")).toBe(undefined);
    for (const wrong of ["x", "-1", "1e9", "1.5", "99999999999"]) {
      expect(text(number, wrong, "N")).toBe(`N: expected a whole number, got "${wrong}".`);
    }
    const choice = { arguments: [{ name: "LEVEL", kind: "choice", complete: ["low", "high"] }] } as const;
    expect(text(choice, "HIGH", "LEVEL")).toBe("high");
    expect(text(choice, "most", "LEVEL")).toBe('There is no level "most": give low or high.');
  });

  it("go with flags, in any order", () => {
    const spec = { ...REST, flags: [{ name: "runs", value: "N", help: "" }] };
    const args = read(spec, `one --runs 2 "two words"`);
    expect(typeof args === "string" ? args : [args.list("TEXT"), args.flag("runs")]).toEqual([
      ["one", "two words"],
      "2",
    ]);
    expect(read(spec, "one --rnus 2")).toContain("Did you mean --runs?");
  });

  it("with flags are few, so that no other client waits while they are read", () => {
    const spec = { ...REST, flags: [{ name: "runs", value: "N", help: "" }] };
    expect(read(spec, "a ".repeat(1001))).toBe("More than 1000 words are too many.");
    expect(read(spec, `-${"a".repeat(1000)}`)).toMatch(/^Unknown flag -a{19}…\.$/);
    expect(processorMs(() => read(spec, `-${"a".repeat(260_000)}`))).toBeLessThan(1000);
    const text = { arguments: [{ name: "TEXT", kind: "line", rest: "text" }], flags: spec.flags } as const;
    const args = read(text, "a ".repeat(5000));
    expect(typeof args === "string" ? args : args.text("TEXT")).toBe("a ".repeat(5000).trim());
    const path = { arguments: [{ name: "PATH", kind: "path", rest: "text" }] } as const;
    expect(read(path, "../".repeat(80_000))).toBe("PATH: expected at most 4096 characters.");
    for (const rest of [undefined, "list"] as const) {
      const name = { arguments: [{ name: "NAME", kind: "text", ...(rest && { rest }) }] } as const;
      expect(read(name, "x".repeat(4097))).toBe("NAME: expected at most 4096 characters.");
      expect(typeof read(name, "x".repeat(4096))).toBe("object");
    }
    expect(read(text, "--runs 1 ".repeat(501))).toBe("More than 1000 words are too many.");
  });

  it("leave words of a text that look like flags in it, with its quotation marks and line breaks", () => {
    const spec = {
      arguments: [{ name: "TEXT", kind: "line", rest: "text" }],
      flags: [
        { name: "runs", short: "r", value: "N", help: "" },
        { name: "all", help: "" },
      ],
    } as const;
    const both = (line: string) => {
      const args = read(spec, line);
      return typeof args === "string" ? args : [args.text("TEXT"), args.flag("runs"), args.hasFlag("all")];
    };
    expect(both(`words "a  phrase" -without`)).toEqual([`words "a  phrase" -without`, undefined, false]);
    expect(both(`--all --runs "2" use --frozen-lockfile\n  here`)).toEqual([
      "use --frozen-lockfile\n  here",
      "2",
      true,
    ]);
    expect(both(`one  -r 3 two`)).toEqual(["one two", "3", false]);
    expect(both(`-- --all of it`)).toEqual(["--all of it", undefined, false]);
    expect(both(`--rnus 2 words`)).toContain("Did you mean --runs?");
  });
});

describe("who may run it, and when", () => {
  const registry = new CommandRegistry().register(
    echo({ name: "all" }),
    echo({ name: "people", users: ["people"] }),
    echo({ name: "reader", users: ["people", "agents in the shell"] }),
    echo({ name: "quiet", places: ["between turns"] }),
    echo({ name: "clear", places: ["in a client"] }),
    echo({ name: "look", places: ["in a client", "between turns", "without a session"] }),
  );
  const run = async (line: string, identity: "human" | "agent", busy: boolean) => {
    const result = await runSlash(registry, line, { identity, context: CONTEXT, busy });
    return "failure" in result ? result.failure.message : result.text;
  };

  it("is checked before it runs", async () => {
    expect(await run("people", "human", true)).toBe("people");
    expect(await run("people", "agent", false)).toBe("/people is for people, not for agents.");
    expect(await run("reader", "agent", false)).toBe("/reader is for people, not for agents.");
    expect(await run("all", "agent", true)).toBe("all");
    expect(await run("quiet", "human", true)).toBe("/quiet does not work during a turn. Wait until it ends.");
    expect(await run("quiet", "human", false)).toBe("quiet");
    expect(await run("clear", "human", false)).toMatch(/^\/clear works only in .* --plain\.$/);
    expect(await run("look", "human", false)).toMatch(/--plain\. Or run 'oxbow look'\.$/);
  });

  it("is refused when its line is longer than anyone types, before the line is read", async () => {
    const refusal = "A command has at most 65,536 characters. Save the text in a file and name the file.";
    expect(await run(`all ${"a ".repeat(131_072)}`, "human", false)).toBe(refusal);
    expect(await run("x".repeat(65_537), "human", false)).toBe(refusal);
  });
});

describe("help", () => {
  it("lists a namespace on one line, and explains its actions when asked", async () => {
    const registry = new CommandRegistry().describe({ route: "named models" });
    registry.register(helpCommand(HELP, registry), ...GROUP, echo({ name: "exit" }));
    const say = slashLine(...registry.list());
    const all = await say("help");
    expect(all.text).toContain("/route [list | add NAME MODEL…]  named models\n/exit");
    expect(await say("help route")).toMatchObject({
      text: expect.stringMatching(/^\/route list .*\n\/route add NAME/),
    });
    registry.register(echo({ name: "session:show", aliases: ["sessions:show"] }));
    expect((await say("help sessions")).text).toBe("/sessions show  echo it");
    expect(await say("help /exit")).toMatchObject({ text: "/exit  echo it", value: { name: "exit" } });
    expect(await say("help xeit")).toMatchObject({ ok: false, text: expect.stringContaining("Did you mean /exit?") });
  });
});

/** Of the two designs that Oxbow follows. Names with a part in capitals depend on what is found. */
const DESIGNED = [
  ..."help status clear exit quit bye ollama:start ollama:stop ollama:status ollama:list ollama:use".split(" "),
  ..."route:add route:remove route:list route:enable route:disable model kb:status kb:project:list".split(" "),
  ..."kb:project:add kb:project:use kb:observe kb:concept:list kb:concept:add record:start record:stop".split(" "),
  ..."record:status read write run search git apply unapply summarize context:add context:show".split(" "),
  ..."context:clear context:load-dir template:use files safemode:on safemode:off safemode:status".split(" "),
  ..."safemode:allow safemode:deny safemode:reset permissions:list permissions:set permissions:reset".split(" "),
  ..."audit:show audit:clear audit:status security bench compact cost profile profiles resume".split(" "),
  ..."sessions:list sessions:resume sessions:attach sessions:pin sessions:branch sessions:export".split(" "),
  ..."sessions:diff skills skills:reload agents mcp mcp:restart mcp:approve permissions".split(" "),
  ..."permissions:promote health web cancel".split(" "),
];

describe("the catalogue", () => {
  verifies(["U6"], "has a heading of the help for every command, and each command once", async () => {
    const registry = new CommandRegistry<CommandSpec>().register(...SESSION_SPECS);
    registry.register(echo({ name: "skills:pdf" }), echo({ name: "mine" }), echo({ name: "doctor" }));
    const text = registry.help(CONTEXT, { headings: HELP_GROUPS, headingOf: helpGroupOf });
    expect(text.split("\n").filter((line) => /^\S/.test(line))).toEqual(HELP_GROUPS);
    const group = (heading: string) => text.split("\n\n").find((part) => part.startsWith(`${heading}\n`)) ?? "";
    expect(group("Subagents, skills and extensions")).toContain("/skills pdf");
    expect(group("Engine")).toContain("/doctor");
    expect(group("Your own").trim()).toMatch(/^Your own\n {2}\/mine/);
    const usages = text.split("\n").filter((line) => /^ {2}[/!]/.test(line));
    expect(usages).toHaveLength(registry.list().filter((spec) => worksOn(spec, CONTEXT)).length);
  });

  verifies(["U6"], "has every command of the designs, in a conversation", () => {
    const registry = new CommandRegistry<CommandSpec>().register(...SESSION_SPECS);
    const missing = DESIGNED.filter((name) => {
      const found = registry.find(name);
      return found === undefined || (!worksOn(found, { surface: "slash" }) && found !== SESSION_RESUME);
    });
    expect(missing).toEqual([]);
  });

  it("describes each command once, in one line", () => {
    const names = SESSION_SPECS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const spec of SESSION_SPECS) {
      expect(spec.summary, spec.name).toMatch(/^[a-z][^\n]*[^.]$/);
      expect(usageOf(spec, CONTEXT), spec.name).toMatch(/^[/!]/);
      expect(mayUse(spec, "people"), spec.name).toBe(true);
      expect(spec.places.length, spec.name).toBeGreaterThan(0);
      expect(spec.arguments?.filter(({ rest }) => rest).length ?? 0, spec.name).toBeLessThan(2);
    }
  });
});

describe("a token for certain sessions", () => {
  const own = echo({ name: "status" });
  const shared = echo({ name: "cost", reaches: "user" });
  const mode = echo({ name: "mode", sends: "SetMode" });
  const models = echo(subject.specs[0] as CommandSpec);
  const { reaches: _, ...silent } = echo({ name: "plugin" });
  const run = (line: string, commands: readonly string[] = ["CustomCommand"]) =>
    runSlash(new CommandRegistry().register(own, shared, mode, models, silent as Command), line, {
      identity: "human",
      context: { ...CONTEXT, limits: { may: (kind) => commands.includes(kind) } },
      busy: false,
    });

  verifies(["C7"], "runs commands of the session, and none that reaches beyond it", async () => {
    expect(await run("status")).toMatchObject({ text: "status" });
    expect(await run("cost")).toMatchObject({
      failure: { message: expect.stringContaining("/cost needs a token without limits.") },
    });
  });

  verifies(["C7"], "runs a command of the session without the flags that reach beyond it", async () => {
    expect(await run("models")).toMatchObject({ text: "models:list" });
    for (const line of ["models --refresh", "models anthropic --refresh"])
      expect(await run(line)).toMatchObject({
        failure: { message: expect.stringContaining("--refresh needs a token without limits.") },
      });
  });

  verifies(["C7"], "runs no command that does not say what it reaches", async () => {
    expect(await run("plugin")).toMatchObject({
      failure: { message: expect.stringContaining("/plugin needs a token without limits.") },
    });
  });

  verifies(["C7"], "does with a slash command only what it may do with the command of the protocol", async () => {
    expect(await run("mode", ["CustomCommand", "SetMode"])).toMatchObject({ text: "mode" });
    expect(await run("mode")).toMatchObject({
      failure: { message: expect.stringContaining("/mode needs a token for SetMode.") },
    });
  });

  /** A new command is in this list only if it shows and changes nothing of other sessions, the engine or the user's files. */
  verifies(["C7"], "runs no command but these", () => {
    const allowed = SESSION_SPECS.filter((spec) => worksOn(spec, { surface: "slash" }) && spec.reaches === "session");
    expect(allowed.map(({ name }) => name).sort()).toEqual([
      ...[
        "agents:list",
        "audit:show",
        "audit:status",
        "background:list",
        "background:output",
        "background:stop",
        "btw",
        "cancel",
        "clear",
        "compact",
      ],
      ...["context:add", "context:clear", "context:show", "copy", "effort", "exit", "help", "hooks", "init", "keys"],
      ...["mode", "model", "models:list", "permissions:list", "permissions:revoke", "permissions:test"],
      ...[
        "plan:approve",
        "plan:off",
        "plan:on",
        "plan:status",
        "ports:list",
        "queue",
        "record:status",
        "rename",
        "rewind",
        "safemode:status",
      ],
      ...["security", "sidebar", "skills:list", "skills:reload", "sources:list", "status", "statusline", "summarize"],
      ...["template:list", "template:use", "theme", "transcript", "undo", "why"],
    ]);
  });
});
