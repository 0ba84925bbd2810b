/** The terminal client in this process: what a person meets at the start and around the conversation. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import type { ChosenSettings } from "../../src/base/chosen-settings.js";
import { clientFiles } from "../../src/cli/tui/client-files.js";
import { readBindings } from "../../src/clients/tui/keys/bindings.js";
import { createTheme, plainTheme } from "../../src/clients/tui/themes.js";
import type { SessionId } from "../../src/protocol/ids.js";
import { type MockModel, reply, script, startMockModel } from "../../src/testkit/index.js";
import { type HostedEngine, hostEngine } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { TuiClient } from "../support/tui-client.js";
import { verifies } from "../verifies.js";

const PLAIN = { colours: "16", ascii: false, links: false } as const;
const ALT_R = "\x1br";
const ALT_W = "\x1bw";
const ALT_S = "\x1bs";
const SHIFT_TAB = "\x1b[Z";
const open: { mock: MockModel; hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

async function host(replies: Parameters<typeof script>[0], options: Parameters<typeof hostEngine>[2] = {}) {
  const mock = await startMockModel({ script: script(replies) });
  const hosted = await hostEngine(await temporaryFolder(), mock, options);
  open.push({ mock, hosted });
  return { mock, hosted };
}

describe("the terminal client", () => {
  verifies(["U2"], "leaves in two steps while a turn runs that would end with it", async () => {
    const { hosted } = await host([1, 2, 3].map(() => reply().text("Thinking. ").delay(60_000).text("Done.")));
    for (const leave of [[..."/quit", "\r"], ["\x04"]]) {
      const client = await TuiClient.open(hosted);
      client.type(..."work", "\r");
      await client.until("Thinking.");
      client.type(...leave);
      await client.until("A turn runs, and leaving cancels it. Press Ctrl-C to leave.");
      client.type("\x03");
      expect(await client.ended).toMatchObject({ session: client.session });
    }
    const kept = await TuiClient.open(hosted, { keepsTurn: () => true });
    kept.type(..."work", "\r");
    await kept.until("Thinking.");
    kept.type(..."/quit", "\r");
    expect((await kept.ended).state.turn).toBeDefined();
    const listed = async () => JSON.stringify(await hosted.connect().query("ListSessions", {}));
    await expect.poll(listed, { timeout: 20_000 }).toContain('"unfinished":true');
    const next = await TuiClient.open(hosted);
    await next.until("alt+r opens the conversation that still works here: work");
    next.type(ALT_R);
    await next.until("Thinking.");
  });

  verifies(["U2", "U6"], "shows every setting with its origin, and changes it in place and in the file", async () => {
    const home = await temporaryFolder();
    const { hosted } = await host([], { home, flags: ["--effort", "low"] });
    const file = join(home, "config", "config.toml");
    const client = await TuiClient.open(hosted);
    client.type("/settings", "\r");
    await client.until(/Settings:[\s\S]*❯ model/);
    client.type(..."nothing like it");
    await client.until("No setting matches.");
    // Words of the help find it.
    client.type("\x15", ..."much the model thinks");
    await client.until(/❯ effort +low +--effort\n.*how much the model thinks/);
    client.type("\x15", ..."vim", "\r");
    await client.until(/vim:.*\n +true\n❯ false \*/);
    client.type(..."true", "\r");
    await client.until(/❯ vim +true +you/);
    expect(await readFile(file, "utf8")).toBe("vim = true\n");
    // Ctrl-X takes it out of the file, and the draft has its usual keys again.
    client.type("\x18");
    await client.until(/❯ vim +false/);
    expect(await readFile(file, "utf8")).toBe("");
    client.type(..."max_iterations", "\r");
    await client.until("> max_iterations: 100");
    client.type("\x15", ..."soon", "\r");
    await client.until('max_iterations: expected a whole number from 1, got "soon".');
    client.type(..."max_iterations", "\r");
    await client.until("> max_iterations: 100");
    client.type("\x15", ..."7", "\r");
    await client.until(/❯ max_iterations +7 +you/);
    await client.until("this session has 100");
    expect(await readFile(file, "utf8")).toBe("max_iterations = 7\n");
    client.type("\x03");
    client.type("/config set permission_mode review", "\r");
    await client.until('permission_mode = "review".');
    client.type("/config set permission_mod ask", "\r");
    await client.until("Did you mean 'permission_mode'?");
    await client.leave();
  });

  verifies(["U2"], "says what it has to offer, and resumes the last conversation by one key", async () => {
    const { mock, hosted } = await host([reply().text("It is blue."), reply().text("As I said.")]);
    const first = await TuiClient.open(hosted);
    await first.until("Sandbox: none");
    await first.until("/mode chooses between auto, review of each edit, and plan");
    first.type("which colour is it", "\r");
    await first.until("It is blue.");
    await first.until("out · ");
    await first.leave();
    const second = await TuiClient.open(hosted);
    await second.until(/alt\+r resumes the last conversation here: which colour is it/);
    second.type(ALT_R);
    await second.until("Resumed: which colour is it");
    await second.until("It is blue.");
    second.type("again", "\r");
    await second.until("As I said.");
    expect(JSON.stringify(mock.requests.at(-1)?.body)).toContain("which colour is it");
    second.process.resize(120, 24);
    second.type("/rename Colours", "\r");
    await second.until("is now 'Colours'");
    await second.until(/· Colours$/m);
    await second.leave();
    const third = await TuiClient.open(hosted);
    await third.until("resumes the last");
    // The words of an answer find a conversation, too.
    third.type("/resume", "\r");
    await third.until("Resume:");
    third.type(..."it is blue");
    await third.until(/❯ Colours[\s\S]*found: It is blue\./);
    third.type("\x1b");
    await third.until(/^Resume: ?$/m);
    await third.until(/❯? ?Colours +\d+m +(?:idle|done)[\s\S]*› again\n +As I said\./);
    third.type("\x03");
    third.type(`/sessions:resume ${first.session.slice(-8)}`, "\r");
    await third.until("Resumed: Colours");
    await third.until("As I said.");
    third.type("\x1b");
    await third.until("Press Esc again to go back");
    third.type("\x1b");
    await third.until(/Go back before:[\s\S]*again[\s\S]*which colour is it/);
    third.type("\r");
    await third.until("You are back before this prompt.");
    await third.until(/^> again$/m);
    third.type("\x03", "/resume", "\r");
    await third.until(/^ +Colours .*\n❯ └ Colours /m);
    third.type("\x03");
    const copy = await third.client.query("ListSessions", {});
    expect(copy.ok && copy.answer.sessions.filter(({ title }) => title === "Colours").length).toBe(2);
    third.type("\x03");
    await third.leave();
  });

  verifies(
    ["L16", "U2"],
    "asks what to do with a plan, until it is carried out with a question for each edit",
    async () => {
      const { hosted } = await host(
        [
          ...["First plan.", "Second plan.", "Third plan."].map((words) => reply().text(words)),
          reply().tool("write", { path: "made.txt", content: "x" }),
          reply().text("Made it."),
        ],
        { flags: ["--plan"] },
      );
      const client = await TuiClient.open(hosted);
      client.type("plan it", "\r");
      await client.until(
        /First plan\.[\s\S]*Carry out this plan\?\n.*yes, carry it out\n.*ask for each edit\n.*keep planning/,
      );
      client.type("k", ..."make it shorter", "\r");
      await client.until(/Second plan\.[\s\S]*Carry out this plan\?/);
      // Words in the draft are a prompt, and the mode stays.
      client.type("\t", ..."shorter still", "\r");
      await client.until(/Third plan\.[\s\S]*Carry out this plan\?/);
      client.type("\x1b");
      await client.until(/Third plan\.\n(?![\s\S]*Carry out this plan\?)/);
      await client.until(/^plan · /m);

      const again = await TuiClient.open(hosted, { session: client.session, resumed: true });
      await again.until(/Third plan\.[\s\S]*Carry out this plan\?/);
      again.type("2");
      await again.until(/Carry out the plan\.[\s\S]*\[y\] yes/);
      await again.until(/^review edits · /m);
      // The question takes no key that follows the last one at once.
      const isMade = async () => {
        again.type("y");
        return (await again.screen()).includes("Made it.");
      };
      await expect.poll(isMade, { interval: 700, timeout: 20_000 }).toBe(true);
      expect(await again.screen()).not.toContain("Carry out this plan?");
    },
  );

  verifies(["U2", "P2"], "goes back to the mode and the rules from before a prompt", async () => {
    const { hosted } = await host(
      [
        reply().tool("bash", { command: "touch one" }),
        ...[reply().text("Made one."), reply().text("Second.")],
        reply().tool("bash", { command: "mkdir two" }),
        reply().text("Made two."),
      ],
      { flags: ["--permission-mode", "ask"] },
    );
    const client = await TuiClient.open(hosted);
    const permissions = async (session: SessionId) => {
      const found = await client.client.query("GetPermissions", {}, session);
      return found.ok && [found.answer.mode, ...found.answer.session_rules.map(({ rule }) => rule)];
    };
    client.type("first", "\r");
    await client.until("[s] yes, and not again this session");
    client.type("s");
    await client.until(/Made one\.[\s\S]*out · /);
    client.type(SHIFT_TAB);
    await client.until(/^auto · /m);
    client.type("second", "\r");
    await client.until(/Second\.[\s\S]*out · /);
    for (const mode of [/^review edits · /m, /^plan · /m, /^auto · /m, /^review edits · /m]) {
      client.type(SHIFT_TAB);
      await client.until(mode);
    }
    client.type("third", "\r");
    await client.until("[s] yes, and not again this session");
    client.type("s");
    await client.until(/Made two\.[\s\S]*out · /);
    client.process.resize(160, 24);
    await client.until("─".repeat(160));
    client.type("/sessions:list", "\r");
    await client.until(/^STATUS +ID +AGE +TITLE +PROFILE +MODEL +TURNS +ATTACHED BY +FOLDER/m);
    await client.until(/^idle +sess_\w+ +now +first +default +\S+ +3 +owner +\//m);
    const [touch, mkdir] = ["bash: touch *", "bash: mkdir *"];
    expect(await permissions(client.session)).toEqual(["review", touch, mkdir]);
    client.type("/rewind", "\r");
    await client.until("Go back before:");
    client.type("second", "\r");
    await client.until("You are back before this prompt.");
    client.type("\x03");
    const { session, state } = await client.leave();
    expect(session).not.toBe(client.session);
    // The gauge shows what the copy contains: the first turn.
    expect(state.costs.contextUsed).toBeGreaterThan(0);
    expect(await permissions(session)).toEqual(["auto", touch]);
    const asAgent = hosted.connect("agent");
    const refused = await asAgent.send("CreateSession", { after: session, until: 1 });
    expect(refused).toMatchObject({ ok: false, failure: { message: expect.stringContaining("Only a person") } });
    const odd = await client.client.send("CreateSession", { after: session, until: 2 });
    expect(odd).toMatchObject({ ok: false, failure: { message: expect.stringContaining("TurnStarted") } });
  });

  verifies(["U2", "U10"], "goes back with the conversation, the files or both, and says what changed", async () => {
    const write = (content: string) => reply().tool("write", { path: "made.txt", content });
    const { hosted } = await host([
      ...[write("one\n"), reply().text("Made it.")],
      ...[write("one\ntwo\nthree\n"), reply().text("Changed it.")],
    ]);
    const made = join(hosted.root, "made.txt");
    const client = await TuiClient.open(hosted);
    for (const [prompt, answer] of [
      ["make it", /Made it\.[\s\S]*out · /],
      ["change it", /Changed it\.[\s\S]*out · /],
    ] as const) {
      client.type(prompt, "\r");
      if (prompt === "make it") {
        await client.until("for writing any file");
        client.type("t");
      }
      await client.until(answer);
    }
    client.type("/rewind", "\r");
    await client.until(/❯ change it +1 file \+2 -0 .*\n[\s\S]*made\.txt \+2 -0/);
    client.type("\r");
    await client.until(
      /These files changed since:\n +made\.txt: restore, \+0 -2\n[\s\S]*the conversation and the files/,
    );
    client.type("f");
    await client.until("/undo");
    await expect.poll(() => readFile(made, "utf8")).toBe("one\n");
    client.type("/rewind", "\r");
    await client.until("Go back before:");
    client.type("make", "\r");
    await client.until("What goes back to before this prompt?");
    client.type("b");
    await client.until("You are back before this prompt.");
    await client.until(/^> make it$/m);
    await expect.poll(() => readFile(made, "utf8").catch(() => "gone")).toBe("gone");
    client.type("\x03");
    await client.leave();
  });

  verifies(["U2"], "changes the line below the input in place, and keeps it", async () => {
    const { hosted } = await host([]);
    const saved: ChosenSettings[] = [];
    const saveSettings = async (chosen: ChosenSettings) => `Saved number ${saved.push(chosen)}.`;
    const ran: string[] = [];
    const runStatusCommand = async (command: string, input: string) => {
      ran.push(command);
      return `mine: ${JSON.parse(input).mode}\n`;
    };
    const client = await TuiClient.open(hosted, { saveSettings, runStatusCommand });
    await client.until(/^auto · anthropic:/m);
    client.type("/statusline !my-line --short", "\r");
    await client.until(/^auto · mine: auto/m);
    expect(ran).toEqual(["my-line --short"]);
    client.type(SHIFT_TAB);
    await client.until(/^review edits · mine: review/m);
    client.type(SHIFT_TAB, SHIFT_TAB);
    await client.until(/^auto · mine: auto/m);
    client.type("/statusline colour", "\r");
    await client.until("There is no part 'colour'. There are model, context,");
    client.type("/statusline session model", "\r");
    await client.until("The line has these parts now. Saved number 2.");
    await client.until(/^auto · \w{8} · anthropic:claude-sonnet-5(?: · no sandbox)?$/m);
    client.type("/statusline all", "\r");
    await client.until("Saved number 3.");
    expect(saved.slice(1)).toEqual([{ status_line: "session model" }, { status_line: null }]);
    await client.leave();
  });

  verifies(["U2"], "keeps a chosen model, effort and theme, says so, and checks the installation", async () => {
    const { hosted } = await host([]);
    const saved: ChosenSettings[] = [];
    const client = await TuiClient.open(hosted, {
      themes: [{ name: "quiet", description: "", theme: plainTheme }],
      saveSettings: async (chosen) => {
        saved.push(chosen);
        return `Saved number ${saved.length}.`;
      },
      doctor: async () => "all is well",
    });
    for (const [line, shown] of [
      ["/effort high", "Effort: high, from the next turn on. Saved number 1."],
      ["/effort auto", "Saved number 2."],
      ["/theme quiet", "Theme quiet. Saved number 3."],
      ["/model claude-opus-4-5", "Saved number 4."],
      ["/effort", "Change it: /effort LEVEL"],
      ["/doctor", "all is well"],
    ] as const) {
      client.type(line, "\r");
      await client.until(shown);
    }
    await client.leave();
    expect(saved).toEqual([
      { effort: "high" },
      { effort: null },
      { theme: "quiet" },
      { model: expect.stringMatching(/^\w+:claude-opus-4-5$/) },
    ]);
  });

  verifies(["U2", "P2"], "lists rules and extensions in the sidebar, and revokes a rule by one key", async () => {
    const base = await temporaryFolder();
    const folder = join(base, "place");
    await mkdir(join(folder, ".oxbow", "skills", "deploy"), { recursive: true });
    await writeFile(
      join(folder, ".oxbow/skills/deploy/SKILL.md"),
      "---\nname: deploy\ndescription: Deploys.\n---\nDo it.\n",
    );
    const { hosted } = await host([reply().tool("bash", { command: "touch made" }), reply().text("Made.")], {
      flags: ["--permission-mode", "ask"],
      content: { folder, asksLater: true },
    });
    const client = await TuiClient.open(hosted);
    await client.until("1 skill waits for approval");
    client.type("\x1ba");
    await client.until("Deploys.");
    client.type("a");
    await client.until("Approved: .oxbow/skills/deploy/SKILL.md");
    client.type("make it", "\r");
    await client.until("[s] yes, and not again this session");
    client.type("s");
    await client.until("Made.");
    await client.until("out · ");
    client.type(ALT_S);
    const sidebar = await client.until("Rules of this session");
    expect(sidebar).toMatch(/Skills\n\s+deploy \(project\)\n\s+code-review \(built-in\)/);
    expect(sidebar).toContain("x revokes");
    const rules = () => client.client.query("GetPermissions", {}, client.session);
    const before = await rules();
    expect(before.ok && before.answer.session_rules.length).toBe(1);
    client.type("x");
    await client.until(/^up and down choose/m);
    const after = await rules();
    expect(after.ok && after.answer.session_rules).toEqual([]);
    client.type("q");
    await client.leave();
  });

  verifies(["U2", "M15"], "signs in without leaving, and tells how it went", async () => {
    const { hosted } = await host([]);
    const asked: string[] = [];
    const login = {
      providers: async () => [
        { name: "alpha", needs: "key" },
        { name: "beta", needs: "sign in with an account" },
        { name: "anthropic", needs: "key" },
        { name: "openai", needs: "key" },
        { name: "local", needs: "no sign-in", advice: "local needs no sign-in: start it." },
      ],
      run: async (provider: string) => {
        asked.push(provider);
        if (provider === "alpha") throw new Error("The terminal is gone.");
        return true;
      },
    };
    const client = await TuiClient.open(hosted, { login });
    await client.until("Ask for something");
    client.type("/login", "\r");
    await client.until("sign in with an account");
    client.type("b", "e", "t", "\r");
    await client.until("beta is stored.");
    await client.until("effort: ");
    client.type("\x03");
    // The list of models shows whether a key is accepted.
    client.type("/login anthropic", "\r");
    await client.until(/anthropic is connected: \d+ models?\./);
    await client.until("effort: ");
    client.type("\x03");
    client.type("/login openai", "\r");
    await client.until("openai is stored, but did not work: ");
    await client.until("effort: ");
    client.type("\x03");
    client.type("/login alpha", "\r");
    await client.until("Not signed in to alpha. Nothing was changed.");
    client.type("/login local", "\r");
    await client.until("· local needs no sign-in: start it.");
    expect(asked).toEqual(["beta", "anthropic", "openai", "alpha"]);
    await client.leave();
    const without = await TuiClient.open(hosted, { login });
    without.type("/model offline:offline", "\r");
    await without.until(/^auto · offline:offline/m);
    without.type("/login beta", "\r");
    await without.until("esc back");
    without.type("\x03");
    await without.leave();
  });

  verifies(["U2", "P2"], "interrupts the turn by Esc in a question, and answers the model nothing", async () => {
    const { mock, hosted } = await host([reply().tool("bash", { command: "touch one" }), reply().text("Never.")], {
      flags: ["--permission-mode", "ask"],
    });
    const client = await TuiClient.open(hosted);
    client.type("make it", "\r");
    await client.until("esc: stop");
    client.type("\x1b");
    await client.until("Cancelled.");
    await client.leave();
    expect(mock.requests).toHaveLength(1);
  });

  verifies(
    ["U2"],
    "shows a screen reader only finished text, without ruled lines, and rings after each turn",
    async () => {
      const { hosted } = await host([reply().text("One two.\n\nThree four."), reply().text("Again.")]);
      const client = await TuiClient.open(hosted, { linear: true });
      await client.until("Ask for something");
      const rings = () => client.process.bytes.replaceAll(/\x1b\][^\x07]*\x07/g, "").split("\x07").length - 1;
      client.type("go", "\r");
      await client.until(/Three four\.[\s\S]*out · /);
      client.type("more", "\r");
      await client.until(/Again\.[\s\S]*out · /);
      await client.leave();
      expect(rings()).toBe(2);
      expect(client.process.bytes).not.toContain("──");
      expect(client.process.bytes.split("Three")).toHaveLength(2);
    },
  );

  verifies(
    ["U2"],
    "follows the terminal's own word on its background, marks the theme, and refuses unknown ones",
    async () => {
      const { hosted } = await host([]);
      const dark = { name: "dark", description: "", theme: createTheme("dark", PLAIN) };
      const light = { name: "light", description: "", theme: createTheme("light", PLAIN) };
      const themes = [dark, light];
      const client = await TuiClient.open(hosted, { theme: light.theme, themes, light: async () => false });
      client.type("/theme nonsense", "\r");
      await client.until("There is no theme 'nonsense'. There are dark, light.");
      client.type("/theme", "\r");
      await client.until(/^❯ dark +\*$/m);
      client.type("l", "i");
      await client.until("esc clears");
      client.type("\r", "/theme", "\r");
      await client.until(/^❯ light +\*$/m);
      client.type("\x03");
      await client.leave();
    },
  );

  verifies(["U3", "P2"], "shows the whole file in the review of a subagent's question", async () => {
    const { hosted } = await host(
      [
        reply().when("begin").tool("agent", { type: "general", description: "edit", prompt: "edit the hook" }),
        reply().when("edit the hook").tool("edit", { path: ".git/hooks/pre-push", old: "two", new: "TWO" }),
        reply().text("Over.").times(2),
      ],
      { flags: ["--permission-mode", "ask"] },
    );
    await mkdir(join(hosted.root, ".git", "hooks"), { recursive: true });
    await writeFile(join(hosted.root, ".git", "hooks", "pre-push"), "one\ntwo\nthree\nlast\n");
    const client = await TuiClient.open(hosted, { files: clientFiles({ OXBOW_HOME: await temporaryFolder() }) });
    client.type("begin", "\r");
    await client.until("[v] show the whole change");
    client.type("v");
    await client.until("enter goes back");
    client.type("v", "v");
    await client.until(/^ *4 +last/m);
    client.type("x");
    await client.until("Over.");
    await client.leave();
  });

  verifies(["U2", "L17"], "looks into a subagent while it works, and stops it", async () => {
    const { mock, hosted } = await host([
      reply().when("begin").tool("agent", { type: "general", description: "look around", prompt: "look in here" }),
      reply().when("look in here").text("I look first.").tool("ls", {}),
      reply().text("Working on it. ").delay(60_000).text("Done."),
      reply().text("Over."),
    ]);
    const client = await TuiClient.open(hosted);
    client.type("begin", "\r");
    await client.until("look around");
    client.type(ALT_W);
    await client.until(/Working:[\s\S]*❯ general: look around +working +1 call/);
    client.type("\r");
    expect(await client.until("I look first.")).toContain("look in here");
    // The next answer is for the subagent.
    await expect.poll(() => mock.requests.length, { timeout: 20_000 }).toBe(3);
    client.type("q", ALT_W);
    await client.until("ctrl-x stops");
    client.type("\x18");
    await client.until(/Over\.[\s\S]* out · /);
    await client.until(/general: look around +cancelled/);
    client.type("\x03");
    await client.leave();
  });

  verifies(["U2", "T6"], "shows the output of a background command, and stops it", async () => {
    const call = { command: "echo it listens; exec sleep 300", run_in_background: true };
    const { hosted } = await host([reply().tool("bash", call), reply().text("Started.")], {
      flags: ["--permission-mode", "allow"],
    });
    const client = await TuiClient.open(hosted);
    client.type("begin", "\r");
    await client.until("Started.");
    await client.until(/ · 1 in background/);
    client.type(ALT_W);
    await client.until(/❯ bg1: echo it listens; exec sleep 300 +running for/);
    client.type("\r");
    await client.until(/it listens\n[\s\S]*the whole output is in/);
    client.type("q", ALT_W);
    await client.until("ctrl-x stops");
    client.type("\x18");
    await client.until("Stopped.");
    client.type("\x03", "/background", "\r");
    expect(await client.until(/bg1 +killed after/)).not.toContain("in background");
    await client.until(/bg1 +killed after .* echo it listens/);
    client.type("/background stop bg1", "\r");
    await client.until("bg1 has ended already.");
    await client.leave();
  });

  verifies(["U2"], "shows the mode of the keys of vi, and interrupts by Esc in normal mode", async () => {
    const { hosted } = await host([reply().text("Thinking. ").delay(60_000).text("Done.")]);
    const client = await TuiClient.open(hosted, { composer: { vim: true } });
    await client.until("-- INSERT --");
    client.type(..."work", "\r");
    await client.until("Thinking.");
    client.type(..."later", "\x1b");
    expect(await client.until("-- NORMAL --")).not.toContain("Cancelled");
    client.type("\x1b");
    await client.until(/[Cc]ancelled/);
    client.type(..."dd", "i", "/quit", "\r");
    await client.ended;
  });

  verifies(["U2"], "takes the keys that a person chose", async () => {
    const { hosted } = await host([reply().text("Sent by another key.")]);
    const { bindings } = readBindings({ send: "ctrl+s", newline: "enter", help: "f2" });
    const client = await TuiClient.open(hosted, { keys: bindings });
    await client.until("f2 for keys");
    client.type("?", "one", "\r", "two", "\x13");
    const sent = await client.until("Sent by another key.");
    expect(sent).toMatch(/\?one\n\s+two/);
    client.type("\x1bOQ");
    expect(await client.until("put the draft aside")).toMatch(/^ctrl\+s +send/m);
    client.type("q");
    await client.leave();
  });
});
