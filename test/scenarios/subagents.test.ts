/** Subagents through the real engine, with the mock model behind all of them. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, onTestFinished } from "vitest";
import { connectInProcess } from "../../src/control/transports/inproc.js";
import type { EngineClient } from "../../src/protocol/client.js";
import { text } from "../../src/protocol/content.js";
import type { Envelope, EnvelopeOf } from "../../src/protocol/envelope.js";
import type { EventKind } from "../../src/protocol/events.js";
import type { CallId, SessionId } from "../../src/protocol/ids.js";
import { type MockModel, type ReplyBuilder, reply, script, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { type HostedEngine, hostEngine, turnOf } from "../support/hosted-engine.js";
import { temporaryFolder } from "../support/program.js";
import { slash } from "../support/slash-turn.js";
import { survivors } from "../support/survivors.js";
import { verifies } from "../verifies.js";

const open: { mock: MockModel; hosted: HostedEngine }[] = [];
afterEach(async () => {
  for (const { mock, hosted } of open.splice(0)) {
    await hosted.engine.close();
    await mock.close();
  }
});

type Files = Readonly<Record<string, string>>;

interface Place extends HostedEngine {
  readonly mock: MockModel;
  readonly client: EngineClient;
  readonly session: SessionId;
  readonly base: string;
  readonly home: string;
}

async function start(
  replies: readonly ReplyBuilder[],
  { profile = "", flags = [], files = {} }: { profile?: string; flags?: readonly string[]; files?: Files } = {},
): Promise<Place> {
  const mock = await startMockModel({ script: script(replies) });
  const folder = await temporaryFolder();
  const home = await mkdtemp(join(folder, "home-"));
  await mkdir(join(home, "config"), { recursive: true });
  await writeFile(join(home, "config", "config.toml"), profile);
  const work = await mkdtemp(join(folder, "work-"));
  for (const [name, content] of Object.entries(files)) {
    if (name === ".git") continue;
    await mkdir(dirname(join(work, name)), { recursive: true });
    await writeFile(join(work, name), content);
  }
  if (Object.keys(files).length > 0) await approve(work, { home });
  if (".git" in files) await makeRepository(work);
  const hosted = await hostEngine(folder, mock, {
    flags,
    home,
    ...(Object.keys(files).length > 0 && { content: { folder: work } }),
  });
  open.push({ mock, hosted });
  const client = connectInProcess(hosted.engine.host, { id: hosted.engine.newClientId(), canAnswer: true });
  const created = await client.send("CreateSession", {});
  if (!created.ok || created.session === undefined) throw new Error("no session");
  return { ...hosted, mock, client, session: created.session, base: folder, home };
}

function agent(prompt: string, type?: string) {
  return { prompt, description: "some work", ...(type !== undefined && { type }) };
}

function of<K extends EventKind>(events: readonly Envelope[], kind: K): readonly EnvelopeOf<K>["payload"][] {
  return events.filter((event) => event.kind === kind).map(({ payload }) => payload as EnvelopeOf<K>["payload"]);
}

function resultTexts(events: readonly Envelope[]): readonly string[] {
  return of(events, "ToolResult").map(({ content }) =>
    content.map((block) => ("text" in block ? block.text : "")).join(),
  );
}

async function stored(place: Place, parent: SessionId) {
  const reply = await place.client.query("ListSessions", {});
  if (!reply.ok) throw new Error("no list");
  return { listed: reply.answer.sessions.map(({ id }) => id), parent };
}

describe("subagents", () => {
  verifies(
    ["L17", "C1"],
    "can be followed while they work, with all events of their log, and rule nothing",
    async () => {
      const place = await start(
        [
          reply().when("begin").tool("agent", agent("look for X", "general")),
          reply().when("look for X").tool("bash", { command: "touch begun; until [ -e go ]; do sleep 0.02; done" }),
          reply().when("last-tool-result", { contains: "no output" }).text("X is found"),
          reply().text("thanks"),
        ],
        { flags: ["--permission-mode", "allow"] },
      );
      const turn = turnOf(place.client, place.session, "begin");
      await expect.poll(() => existsSync(join(place.root, "begun"))).toBe(true);
      const follower = place.connectPerson();
      const list = await follower.query("ListSessions", { subagents: true });
      const [found] = (list.ok ? list.answer.sessions : []).filter(({ title }) => title?.startsWith("subagent"));
      expect(found).toMatchObject({ title: "subagent general: some work", live: true });
      const session = found?.id as SessionId;
      const seen: Envelope[] = [];
      follower.subscribe((event) => void seen.push(event));
      expect(await follower.send("CreateSession", { resume: session })).toMatchObject({ ok: true, session });
      await follower.send("DetachSession", {}, session);
      expect(await follower.send("AttachSession", { after: 0 }, session)).toEqual({ ok: true });
      expect(of(seen, "ToolCallStarted")).toMatchObject([{ tool: "bash" }]);
      const listed = await slash(place.client, place.session, "/agents");
      expect(JSON.stringify(listed)).toMatch(new RegExp(`WORKS NOW[\\s\\S]*${session} +general[\\s\\S]*oxbow attach`));
      const refused = { failure: { message: expect.stringContaining(`Your input belongs to ${place.session}`) } };
      expect(await follower.send("SendInput", { content: [text("hi")] }, session)).toMatchObject(refused);
      expect(await follower.send("EndSession", {}, session)).toMatchObject(refused);
      await writeFile(join(place.root, "go"), "");
      expect(resultTexts(await turn)).toEqual(["X is found"]);
      expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
      expect(seen.map(({ kind }) => kind).slice(-2)).toEqual(["TurnEnded", "SessionEnded"]);
      const after = await follower.query("ListSessions", { subagents: true });
      expect(after.ok && after.answer.sessions.map(({ id }) => id)).toEqual([place.session]);
    },
  );

  verifies(["L17"], "several calls in one answer run concurrently, and each returns a report", async () => {
    // Each waits for a file of the other, so one after the other would never end.
    const waits = (own: string, other: string) => ({
      command: `touch ${own}; until [ -e ${other} ]; do sleep 0.02; done; echo ${own} met ${other}`,
    });
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("find ALPHA")).tool("agent", agent("find BETA")),
        reply().when("ALPHA").tool("bash", waits("alpha", "beta")),
        reply().when("BETA").tool("bash", waits("beta", "alpha")),
        reply().when("last-tool-result", { contains: "alpha met beta" }).text("alpha is done"),
        reply().when("last-tool-result", { contains: "beta met alpha" }).text("beta is done"),
        reply().text("both found"),
      ],
      { flags: ["--permission-mode", "allow"] },
    );
    const events = await turnOf(place.client, place.session, "begin");
    expect(resultTexts(events)).toEqual(["alpha is done", "beta is done"]);
    expect(of(events, "SubagentStarted").map(({ type }) => type)).toEqual(["general", "general"]);
    expect(of(events, "SubagentEnded").map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
    // The usage of the turn includes theirs.
    const [ended] = of(events, "TurnEnded");
    const own = of(events, "CostIncremented").reduce((sum, { usage }) => sum + usage.input, 0);
    const theirs = of(events, "SubagentEnded").reduce((sum, { usage }) => sum + usage.input, 0);
    expect(theirs).toBeGreaterThan(0);
    expect(ended?.usage.input).toBe(own + theirs);
    // They are sessions of their own, which the list leaves out.
    expect((await stored(place, place.session)).listed).toEqual([place.session]);
  });

  verifies(
    ["L17"],
    "a type gets its own prompt and tools, and cannot start subagents below the depth limit",
    async () => {
      const place = await start([
        reply().when("begin").tool("agent", agent("look", "explore")),
        reply().when("look").tool("write", { path: "x.txt", content: "x" }).tool("agent", agent("again")),
        reply().when("tool-results", { contains: "no tool" }).text("I cannot write"),
        reply().text("done"),
      ]);
      const events = await turnOf(place.client, place.session, "begin");
      expect(resultTexts(events)).toEqual(["I cannot write"]);
      const child = place.mock.requests[1]?.body as { system: unknown; tools: { name: string }[] };
      expect(child.tools.map(({ name }) => name)).toEqual(["read", "ls", "glob", "grep", "bash"]);
      expect(JSON.stringify(child.system)).toContain("You search a codebase");
      expect(JSON.stringify(child)).not.toContain("Plan mode is on");
      await expect(readFile(join(place.root, "x.txt"))).rejects.toThrow("ENOENT");
      const parent = place.mock.requests[0]?.body as { tools: { name: string; description: string }[] };
      expect(JSON.stringify(parent.tools)).toContain('"enum":["cheap"]');
      expect(parent.tools.find(({ name }) => name === "agent")?.description).toContain("- explore: ");
    },
  );

  verifies(["L17"], "the depth and the number of subagents have limits", async () => {
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("first")),
        reply().when("first").tool("agent", agent("second")),
        reply().when("second").tool("agent", agent("third")),
        reply().when("tool-results", { contains: "no tool" }).text("second is the deepest"),
        reply().when("tool-results", { contains: "deepest" }).tool("agent", agent("fourth")),
        reply().when("tool-results", { contains: "its limit" }).text("no more").times(2),
        reply().text("done"),
      ],
      { profile: "agent_depth = 2\nagents_per_turn = 2\n" },
    );
    const events = await turnOf(place.client, place.session, "begin");
    expect(resultTexts(events)).toEqual(["no more"]);
  });

  verifies(["L9", "L17"], "cancel ends the subagent with the command that it runs", async () => {
    const MARK = "86391.25";
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("sleep long")),
        reply()
          .when("sleep long")
          .tool("bash", { command: `sleep ${MARK}` }),
        reply().text("not reached"),
      ],
      { flags: ["--permission-mode", "allow"] },
    );
    const events: Envelope[] = [];
    const ended = new Promise<void>((resolve) => {
      place.client.subscribe((event) => {
        events.push(event);
        if (event.kind === "SubagentProgress" && event.payload.text.startsWith("bash")) {
          void place.client.send("CancelTurn", {}, place.session);
        }
        if (event.kind === "TurnEnded") resolve();
      });
    });
    await place.client.send("SendInput", { content: [text("begin")] }, place.session);
    await ended;
    expect(of(events, "TurnEnded")[0]?.outcome).toBe("cancelled");
    expect(of(events, "ToolResult")[0]?.status).toBe("cancelled");
    await place.engine.close();
    open.pop();
    await place.mock.close();
    expect(of(events, "SubagentEnded")[0]?.outcome).toBe("cancelled");
    expect(await survivors(MARK)).toEqual([]);
  });

  verifies(["L17"], "a question names the subagent, goes to the parent's client, and its answer counts", async () => {
    const place = await start([
      reply().when("begin").tool("agent", agent("make it")),
      reply().when("make it").tool("bash", { command: "touch made.txt" }),
      reply().when("tool-results", { contains: "" }).text("made"),
      reply().text("done"),
    ]);
    const questions: EnvelopeOf<"PermissionRequested">["payload"][] = [];
    const stop = place.client.subscribe((event) => {
      if (event.kind !== "PermissionRequested") return;
      questions.push(event.payload);
      void place.client.send("AnswerPermission", { call: event.payload.call, decision: "allow_once" }, place.session);
    });
    onTestFinished(() => void stop());
    const events = await turnOf(place.client, place.session, "begin");
    expect(questions).toHaveLength(1);
    expect(questions[0]?.summary).toMatch(/^subagent general: .*touch made\.txt/);
    expect(questions[0]?.subagent).toMatchObject({ type: "general", call: of(events, "ToolCallStarted")[0]?.call });
    expect(await readFile(join(place.root, "made.txt"), "utf8")).toBe("");
  });

  verifies(["L17"], "the budget of the run holds for parallel subagents together", async () => {
    const four = [1, 2, 3, 4].reduce((made, n) => made.tool("agent", agent(`work ${n}`)), reply().when("begin"));
    const place = await start(
      [
        four.usage({ input: 100, output: 100 }),
        ...[1, 2, 3, 4].map((n) =>
          reply()
            .when(`work ${n}`)
            .text("part ")
            .tool("read", { path: "none" })
            .usage({ input: 3000, output: 600 })
            .times(5),
        ),
        reply().text("done").times(5),
      ],
      { flags: ["--budget", "20k tokens"] },
    );
    const events = await turnOf(place.client, place.session, "begin");
    const [ended] = of(events, "TurnEnded");
    const { input = 0, output = 0 } = ended?.usage ?? {};
    expect(input + output).toBeLessThanOrEqual(20_000);
    expect(input + output).toBeGreaterThan(3700);
    // What is left may still pay for the last answer.
    expect(ended?.outcome).toMatch(/^(limit|answered)$/);
    expect(resultTexts(events).some((words) => /stopped by a limit/.test(words))).toBe(true);
    const cost = await command(place, "cost");
    expect(cost).toContain("this run");
  });

  verifies(["L17"], "undo of the turn reverts what subagents changed", async () => {
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("part-1")).tool("agent", agent("part-2")),
        reply().when("part-1").tool("write", { path: "one.txt", content: "1" }),
        reply().when("part-2").tool("write", { path: "two.txt", content: "2" }),
        reply().when("tool-results", { contains: "" }).text("written").times(2),
        reply().text("done"),
      ],
      { flags: ["--permission-mode", "allow"] },
    );
    const events = await turnOf(place.client, place.session, "begin");
    expect(resultTexts(events)).toEqual([expect.stringContaining("written"), expect.stringContaining("written")]);
    expect(await readFile(join(place.root, "one.txt"), "utf8")).toBe("1");
    expect(await readFile(join(place.root, "two.txt"), "utf8")).toBe("2");
    await command(place, "undo", "yes");
    await expect(readFile(join(place.root, "one.txt"))).rejects.toThrow("ENOENT");
    await expect(readFile(join(place.root, "two.txt"))).rejects.toThrow("ENOENT");
  });

  verifies(["L17"], "plan mode holds for a subagent from the moment it begins", async () => {
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("write it")),
        reply().when("write it").tool("read", { path: "none" }),
        reply().when("tool-results", { contains: "none" }).tool("write", { path: "a.txt", content: "a" }),
        reply().when("tool-results", { contains: "This subagent only reads" }).text("it was denied"),
        reply().text("done"),
      ],
      { flags: ["--permission-mode", "allow"] },
    );
    place.client.subscribe((event) => {
      if (event.kind === "SubagentStarted") void place.client.send("EnterPlanMode", {}, place.session);
    });
    const events = await turnOf(place.client, place.session, "begin");
    expect(resultTexts(events)).toEqual(["it was denied"]);
    await expect(readFile(join(place.root, "a.txt"))).rejects.toThrow("ENOENT");
  });

  verifies(["L17"], "a type with permissionMode plan only reads, whatever the parent may do", async () => {
    const looker = "---\ndescription: Looks.\npermissionMode: plan\n---\nLook.\n";
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("change it", "looker")),
        reply().when("change it").tool("write", { path: "made", content: "x" }),
        reply().when("tool-results", { contains: "This subagent only reads" }).text("it was denied"),
        reply().text("thanks"),
      ],
      { flags: ["--permission-mode", "allow"], files: { ".oxbow/agents/looker.md": looker } },
    );
    const events = await turnOf(place.client, place.session, "begin");
    expect(resultTexts(events)).toEqual(["it was denied"]);
    expect(existsSync(join(place.root, "made"))).toBe(false);
  });

  verifies(["L17"], "a call of `delegate` is one of `agent` with the cheaper model of the profile", async () => {
    const place = await start(
      [
        reply().when("begin").tool("delegate", { prompt: "small work" }),
        reply().when("small work").expect("model", { contains: "cheap-one" }).text("done cheaply"),
        reply().text("done"),
      ],
      { profile: 'delegate_model = "anthropic:cheap-one"\n' },
    );
    const events = await turnOf(place.client, place.session, "begin");
    expect(resultTexts(events)).toEqual(["done cheaply"]);
    expect(of(events, "SubagentStarted")[0]).toMatchObject({ type: "general", model: "cheap-one" });
    expect(of(events, "TurnEnded")[0]?.by_model?.map(({ model }) => model)).toContain("cheap-one");
  });

  verifies(["L17"], "a failing subagent is a result, and the turn continues", async () => {
    const place = await start([
      reply()
        .when("begin")
        .tool("agent", agent("fail"))
        .tool("agent", { ...agent("x"), type: "nonsense" }),
      reply().when("fail").error({ status: 400, message: "bad request" }),
      reply().text("done"),
    ]);
    const events = await turnOf(place.client, place.session, "begin");
    const [failed, unknown] = resultTexts(events);
    expect(failed).toMatch(/The subagent general failed\. .*session sess_/);
    expect(unknown).toContain('There is no type "nonsense". Available: explore, general.');
    expect(of(events, "TurnEnded")[0]).toMatchObject({ outcome: "answered", text: "done" });
  });

  verifies(["L17"], "a type of .claude/agents works unchanged, with its prompt, tools and model", async () => {
    const reviewer =
      "---\nname: reviewer\ndescription: Reviews code.\ntools: Read, Grep\nmodel: sonnet\n---\nYou are a strict reviewer.\n";
    const place = await start(
      [
        reply().when("begin").tool("agent", { subagent_type: "reviewer", prompt: "review it", description: "review" }),
        reply().when("review it").expect("system", { contains: "strict reviewer" }).text("looks good"),
        reply().text("done"),
      ],
      { files: { ".claude/agents/team/reviewer.md": reviewer, ".oxbow/agents/bad.md": "no front matter" } },
    );
    const events = await turnOf(place.client, place.session, "begin");
    expect(resultTexts(events)[0]).toContain("looks good");
    const [parent, child] = place.mock.requests.map(
      ({ body }) => body as { tools: { name: string; description: string }[] },
    );
    expect(parent?.tools.find(({ name }) => name === "agent")?.description).toContain("- reviewer: Reviews code.");
    expect(child?.tools.map(({ name }) => name)).toEqual(["read", "grep"]);
    expect(await command(place, "agents")).toMatch(/reviewer .*\.claude\/agents\/team/);
  });

  verifies(
    ["L17"],
    "'/agents:TYPE PROMPT' runs a subagent at once, and the model answers with its report",
    async () => {
      const place = await start([
        reply()
          .when("body", { contains: "/agents:explore" })
          .expect("last-tool-result", { contains: "found" })
          .text("it is found"),
        reply().when("body", { contains: "find it" }).text("found").times(1),
      ]);
      await expect(command(place, "agents:explore")).rejects.toThrow("What should it do?");
      const events: Envelope[] = [];
      const ended = new Promise<Envelope>((resolve) => {
        place.client.subscribe((event) => {
          events.push(event);
          if (event.kind === "TurnEnded") resolve(event);
        });
      });
      await command(place, "agents:explore", "find it");
      expect((await ended).payload).toMatchObject({ outcome: "answered", text: "it is found" });
      // The one of the subagent, and one for the answer.
      expect(place.mock.requests).toHaveLength(2);
      expect(place.mock.failures).toEqual([]);
      const kinds = events.filter(({ session }) => session === place.session).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "CostIncremented")).toHaveLength(1);
      expect(events.find(({ kind }) => kind === "ToolCallStarted")?.payload).toMatchObject({
        tool: "agent",
        args: { type: "explore", prompt: "find it", description: "find it" },
      });
      await turnOf(place.client, place.session, "thanks");
      expect(JSON.stringify(place.mock.requests.at(-1)?.body)).toMatch(/"name":"agent".*it is found/);
    },
  );

  verifies(["L17"], "a type with a worktree leaves its changes on a branch, and nothing else behind", async () => {
    const worker = "---\ndescription: works apart\nisolation: worktree\n---\n";
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("write it", "worker")).tool("agent", agent("read it", "worker")),
        // The `.git` of the worktree is the subagent's to change; nothing follows it.
        reply()
          .when("write it")
          .tool("write", { path: "new.txt", content: "new" })
          .tool("bash", { command: "rm .git && echo gitdir: /nowhere > .git" }),
        reply().when("read it").tool("read", { path: ".oxbow/agents/worker.md" }),
        reply().when("tool-results", { contains: "" }).text("finished").times(2),
        reply().text("done"),
      ],
      { flags: ["--permission-mode", "allow"], files: { ".git": "", ".oxbow/agents/worker.md": worker } },
    );
    allowAll(place);
    const events = await turnOf(place.client, place.session, "begin");
    const [wrote = "", readOnly] = resultTexts(events);
    const branch = /on the branch (\S+) \(/.exec(wrote)?.[1] ?? "";
    expect(branch, wrote).toMatch(/^oxbow\/agent-/);
    expect(readOnly).toBe("finished");
    const git = (...args: string[]) => execFileSync("git", ["-C", place.root, ...args], { encoding: "utf8" }).trim();
    expect(git("show", `${branch}:new.txt`)).toBe("new");
    expect(git("branch", "--list", "oxbow/*").split("\n")).toHaveLength(1);
    expect(git("worktree", "list").split("\n")).toHaveLength(1);
    expect(git("status", "--porcelain")).toBe("");
  });

  for (const [when, profile, expected] of [
    ["one after the other where each has a time limit", "", [1, 1]],
    ["at once without a time limit", 'permission_timeout = "off"\n', [1, 2]],
  ] as const)
    verifies(["L17", "P2"], `questions of parallel subagents come ${when}`, async () => {
      const place = await start(
        [
          reply().when("begin").tool("agent", agent("make a")).tool("agent", agent("make b")),
          reply().when("make a").tool("bash", { command: "touch a" }),
          reply().when("make b").tool("bash", { command: "touch b" }),
          reply().when("tool-results", { contains: "" }).text("made").times(2),
          reply().text("done"),
        ],
        { profile },
      );
      let asking = 0;
      const most: number[] = [];
      const calls: CallId[] = [];
      place.client.subscribe((event) => {
        if (event.kind === "PermissionResolved") asking--;
        if (event.kind !== "PermissionRequested") return;
        most.push(++asking);
        calls.push(event.payload.call);
        // Without a limit the answers wait until both are there.
        if (profile !== "" && calls.length < 2) return;
        setImmediate(() => {
          for (const call of calls.splice(0))
            void place.client.send("AnswerPermission", { call, decision: "allow_once" }, place.session);
        });
      });
      await turnOf(place.client, place.session, "begin");
      expect(most).toEqual(expected);
    });

  verifies(["L17"], "a subagent has a time limit, and the turn continues after it", async () => {
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("stall")),
        reply().when("stall").text("so far ").delay(60_000),
        reply().text("done"),
      ],
      { profile: 'agent_timeout = "500ms"\n' },
    );
    const events = await turnOf(place.client, place.session, "begin");
    expect(of(events, "ToolResult").map(({ status }) => status)).toEqual(["timeout"]);
    expect(resultTexts(events)[0]).toMatch(/The subagent general was stopped by a limit\..*500ms/s);
    expect(of(events, "TurnEnded")[0]?.outcome).toBe("answered");
  });

  verifies(["L17"], "a subagent may look around in plan mode, and gets no words about a plan of its own", async () => {
    const place = await start(
      [
        reply().when("begin").tool("agent", agent("look around", "explore")),
        reply().when("look around").text("seen"),
        reply().when("begin").tool("agent", agent("look again", "general")),
        reply().when("look again").text("seen, too"),
        reply().text("done"),
      ],
      { flags: ["--plan"] },
    );
    expect(resultTexts(await turnOf(place.client, place.session, "begin"))).toEqual(["seen", "seen, too"]);
    const [own, explore, , general] = place.mock.requests.map(({ body }) => JSON.stringify(body));
    expect(own).toContain("the user approves it before you carry it out");
    expect(explore).not.toMatch(/the user approves it|You can only read here/);
    expect(general).toContain("You can only read here");
    expect(general).not.toContain("the user approves it");
  });

  verifies(["L17"], "the cost of a resumed session includes that of its subagents", async () => {
    const replies = [
      reply().when("begin").tool("agent", agent("work")).usage({ input: 1000, output: 10 }),
      reply().when("work").text("worked").usage({ input: 70_000, output: 10 }),
      reply().text("done").usage({ input: 1000, output: 10 }).times(2),
    ];
    const first = await start(replies);
    await turnOf(first.client, first.session, "begin");
    await first.engine.close();
    const again = await hostEngine(first.base, first.mock, { home: first.home });
    open[open.length - 1] = { mock: first.mock, hosted: again };
    const client = again.connect();
    await client.send("CreateSession", { resume: first.session });
    const cost = await command({ ...first, client }, "cost");
    expect(cost).toMatch(/7[0-9][,.]?\d*k|72[, ]?0\d\d/);
  });

  verifies(["L17"], "the tools are off without their set, and the session list shows subagents on demand", async () => {
    const place = await start([reply().when("begin").tool("agent", agent("look")), reply().text("done").times(2)]);
    await turnOf(place.client, place.session, "begin");
    expect((await command(place, "session", "list")).match(/sess_/g)).toHaveLength(1);
    expect((await command(place, "session", "list --subagents")).match(/sess_/g)).toHaveLength(2);
    expect(await command(place, "agents")).toMatch(/explore .*built-in/);
    const without = await start([reply().text("done")], { flags: ["--tool-set", "read"] });
    await turnOf(without.client, without.session, "hello");
    const body = without.mock.requests[0]?.body as { tools: { name: string }[] } | undefined;
    expect(body?.tools.map(({ name }) => name)).not.toContain("agent");
  });
});

function allowAll({ client, session }: Place): void {
  client.subscribe((event) => {
    if (event.kind !== "PermissionRequested") return;
    void client.send("AnswerPermission", { call: event.payload.call, decision: "allow_once" }, session);
  });
}

/** Commits everything that is there. */
async function makeRepository(folder: string): Promise<void> {
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "--quiet");
  git("add", "--all");
  git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "--message", "first");
}

async function command({ client, session }: Place, verb: string, args = ""): Promise<string> {
  const answer = await client.send("CustomCommand", { namespace: "slash", verb, payload: { args } }, session);
  if (!answer.ok) throw new Error(answer.failure.message);
  return (answer.value as { text: string }).text;
}
