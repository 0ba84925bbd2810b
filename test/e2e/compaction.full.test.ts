/** Conversations that become too long for their model, from the command line against a real server. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import type { EventPayloads } from "../../src/protocol/events.js";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { approve } from "../support/approve.js";
import { envelopes, oxbow, type ProgramOptions, providerEnvironment, temporaryFolder } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

const MODEL = "anthropic:claude-sonnet-4-5";
const WINDOW = `[models."${MODEL}"]\ncontext = 20000\noutput = 2000\n`;
const SUMMARY =
  'reply times=any when body contains "You write the summary"\n  text: ## Goal: find the heron\n  usage input=900 output=80\n';
/** Three commands of which the second says a word that is nowhere else, and a last request that comes with a nearly full window. */
const LONG_TURN = `${SUMMARY}
reply
  text: I look around.
  tool bash {"command":"printf 'first-%s-' $(seq 400)"}
  usage input=3000 output=50
reply
  tool bash {"command":"echo rare-kingfisher; seq 800 1200"}
  usage input=9000 output=50
reply
  tool bash {"command":"echo newest-plover"}
  usage input=16500 output=50
reply
  text: Found it.
  usage input=4000 output=50
reply times=any
  text: Going on.
  usage input=4100 output=50
`;

async function scene(script: string, profile = WINDOW) {
  const mock = await startMockModel({ script });
  mocks.push(mock);
  const home = await temporaryFolder();
  const cwd = await temporaryFolder();
  await mkdir(join(home, "config"), { recursive: true });
  await writeFile(join(home, "config", "config.toml"), profile);
  const env = { ...providerEnvironment("anthropic", mock.url), OXBOW_HOME: home, OXBOW_MODEL: MODEL };
  const run = (args: readonly string[], options: ProgramOptions = {}) => oxbow(args, { cwd, env, ...options });
  return { mock, home, cwd, env, run };
}

type Body = { system?: unknown; tools?: readonly unknown[]; messages: readonly Record<string, unknown>[] };

function bodies(mock: MockModel): Body[] {
  return mock.requests.map(({ body }) => body as unknown as Body);
}

/** Marks for the provider's cache stand on other blocks in other requests. */
function plain(messages: Body["messages"]): unknown {
  return JSON.parse(JSON.stringify(messages, (key, value) => (key === "cache_control" ? undefined : value)));
}

function compactions(stdout: string): EventPayloads["CompactionTriggered"][] {
  return envelopes(stdout).flatMap((event) => (event.kind === "CompactionTriggered" ? [event.payload] : []));
}

const ALLOW = ["--permission-mode", "allow", "--stream-events"];

describe("a conversation that fills the window", () => {
  for (const store of ["sqlite", "files"]) {
    verifies(
      ["X7", "M16", "S6", "X10"],
      `is shortened before the next request, goes on, and comes back the same from the log (${store})`,
      async () => {
        const { mock, home, run } = await scene(LONG_TURN);
        const stored = ["--store", store];
        const { code, stdout } = await run([...ALLOW, ...stored, "find the heron"]);
        expect(code).toBe(0);
        const [event, ...more] = compactions(stdout);
        expect(more).toEqual([]);
        expect(event).toMatchObject({ reason: "nearly full", kept_from: expect.any(Number) });
        expect(event?.summary).toContain("## Goal: find the heron");
        expect(event?.tokens?.after).toBeLessThan(event?.tokens?.before ?? 0);
        const sent = bodies(mock);
        expect(sent).toHaveLength(5);
        const [summarised, after] = [sent[3] as Body, sent[4] as Body];
        expect(summarised.tools ?? []).toEqual([]);
        expect(JSON.stringify(summarised)).toMatch(/<untrusted-[a-z]+ source=\\"bash\\">\\nrare-kingf/);
        // The summary, the newest call and its result, and nothing of what was before; what stands around it is the same.
        expect(after.system).toEqual(sent[2]?.system);
        expect(after.tools).toEqual(sent[2]?.tools);
        expect(JSON.stringify(after.messages)).toContain("newest-plover");
        expect(JSON.stringify(after.messages)).toContain("<first-request>\\nfind the heron");
        expect(JSON.stringify(after.messages)).not.toContain("rare-kingfisher");
        // Paid for in the turn, under its own name.
        const costs = envelopes(stdout).flatMap((each) => (each.kind === "CostIncremented" ? [each.payload] : []));
        expect(costs.map(({ purpose }) => purpose)).toEqual([undefined, undefined, undefined, "summary", undefined]);
        const ended = envelopes(stdout).find((each) => each.kind === "TurnEnded");
        expect(ended).toMatchObject({ payload: { iterations: 4, usage: { output: 280 } } });

        // A new run sends what this one would have sent.
        const next = await run([...ALLOW, ...stored, "--continue", "and now?"]);
        expect(next.code).toBe(0);
        const resumed = bodies(mock)[5] as Body;
        expect(plain(resumed.messages.slice(0, after.messages.length))).toEqual(plain(after.messages));
        expect(resumed.system).toEqual(after.system);

        // What was left out is still there for people.
        const session = envelopes(stdout)[0]?.session ?? "";
        const found = await run(["session", "search", "rare-kingfisher", ...stored]);
        expect(found.stdout).toContain(session);
        const shown = await run(["session", "show", session, ...stored]);
        expect(shown.stdout).toContain("rare-kingfisher");
        if (store === "files") await expectFiles(home);
        else expect((await run(["session", "verify", session])).code).toBe(0);
      },
    );
  }

  async function expectFiles(home: string): Promise<void> {
    const all = await readdir(home, { recursive: true });
    const messages = all.filter((path) => /messages\/\d+-.*\.md$/.test(path)).sort();
    const texts = await Promise.all(messages.map((path) => readFile(join(home, path), "utf8")));
    expect(texts.filter((text) => /^compaction: true$/m.test(text) && /^kept_from: \d+$/m.test(text))).toHaveLength(1);
    expect(texts.some((text) => text.includes("rare-kingfisher"))).toBe(true);
  }

  verifies(["X7", "S7"], "continues from the edited files with the kept messages", async () => {
    const { mock, home, run } = await scene(LONG_TURN);
    const flags = [...ALLOW, "--store", "files"];
    await run([...flags, "find the heron"]);
    const path = (await readdir(home, { recursive: true })).find((each) => /messages\/\d+-user\.md$/.test(each)) ?? "";
    const summary = (await readdir(home, { recursive: true }))
      .filter((each) => /messages\/\d+-user\.md$/.test(each))
      .sort()
      .at(-1);
    expect(path).not.toBe(summary);
    const file = join(home, summary ?? "");
    await writeFile(file, (await readFile(file, "utf8")).replace("find the heron", "find the EDITED heron"));
    await run([...flags, "--continue", "and now?"]);
    const sent = JSON.stringify(bodies(mock).at(-1)?.messages);
    expect(sent).toContain("EDITED heron");
    expect(sent).toContain("newest-plover");
    expect(sent).not.toContain("rare-kingfisher");
  });

  verifies(["X7", "U1"], "prints one line; a summary that fails changes nothing", async () => {
    const quiet = await scene(LONG_TURN);
    const told = await quiet.run(["--permission-mode", "allow", "find the heron"], {
      env: { ...quiet.env, OXBOW_STREAM: "1" },
    });
    expect(told.stderr).toMatch(/^conversation shortened: 17k → \d+(\.\d)?k tokens$/m);
    expect(told.stdout).toBe("I look around.\nFound it.\n");
    const failing = await scene(
      `reply times=any when body contains "You write the summary"\n  error 400 bad-request "no summaries today"\n${LONG_TURN.replace(SUMMARY, "")}`,
    );
    const failed = await failing.run([...ALLOW, "find the heron"]);
    expect(failed.code).toBe(0);
    expect(compactions(failed.stdout)).toEqual([]);
    const warnings = envelopes(failed.stdout).filter(
      (each) => each.kind === "Notice" && each.payload.level === "warning",
    );
    expect(warnings).toMatchObject([
      {
        payload: {
          message: expect.stringMatching(
            /^Oxbow could not shorten the conversation: .*no summaries today.* The conversation continues unchanged\.$/,
          ),
        },
      },
    ]);
    expect(JSON.stringify(bodies(failing.mock).at(-1)?.messages)).toContain("rare-kingfisher");
  });

  verifies(["X7", "M8"], "is summarised by the route for that; with compact_at = off it is left alone", async () => {
    const cheap = '[routes.summary]\nmodel = "anthropic:claude-haiku-4-5"\n';
    const { mock, run } = await scene(LONG_TURN, cheap + WINDOW);
    const { stdout } = await run([...ALLOW, "find the heron"]);
    expect(bodies(mock).map((body) => (body as unknown as { model: string }).model)).toEqual([
      ...["claude-sonnet-4-5", "claude-sonnet-4-5", "claude-sonnet-4-5"],
      ...["claude-haiku-4-5", "claude-sonnet-4-5"],
    ]);
    expect(compactions(stdout)).toHaveLength(1);
    const off = await scene(LONG_TURN, `compact_at = "off"\n${WINDOW}`);
    const untouched = await off.run([...ALLOW, "find the heron"]);
    expect(compactions(untouched.stdout)).toEqual([]);
    expect(envelopes(untouched.stdout).some(({ kind }) => kind === "ContextNearlyFull")).toBe(true);
  });

  verifies(["X7", "L9"], "Ctrl-C ends the summary too, and nothing was shortened (130)", async () => {
    const { run, mock, env } = await scene(
      `reply times=any when body contains "You write the summary"\n  hang\n${LONG_TURN.replace(SUMMARY, "")}`,
    );
    let pressed = false;
    const { code, stdout } = await run([...ALLOW, "find the heron"], {
      env,
      onOutput: (all, child) => {
        if (!pressed && all.stdout.includes("summarising the conversation")) pressed = child.kill("SIGINT");
      },
    });
    expect(code).toBe(130);
    expect(compactions(stdout)).toEqual([]);
    expect(mock.requests).toHaveLength(4);
  });
});

describe("a run that is killed after its conversation was shortened", () => {
  verifies(["X7", "S3", "S6"], "continues with the shortened one: it was on the disk before it was used", async () => {
    const script = LONG_TURN.replace("  text: Found it.\n  usage input=4000 output=50", "  hang");
    const { mock, run } = await scene(script);
    let poll: NodeJS.Timeout | undefined;
    const killed = await run([...ALLOW, "find the heron"], {
      onStart: (child) => {
        poll = setInterval(() => mock.requests.length >= 5 && child.kill("SIGKILL"), 10);
      },
    });
    clearInterval(poll);
    expect(killed.signal).toBe("SIGKILL");
    const next = await run([...ALLOW, "--continue", "and now?"]);
    expect(next.code).toBe(0);
    const [live, resumed] = [bodies(mock)[4] as Body, bodies(mock)[5] as Body];
    expect(plain(resumed.messages.slice(0, -1))).toEqual(plain(live.messages.slice(0, -1)));
    expect(JSON.stringify(resumed.messages)).not.toContain("rare-kingfisher");
  });
});

describe("instructions", () => {
  verifies(
    ["X7", "X1"],
    "are not part of the summary; the model gets those of a folder again when it next touches it",
    async () => {
      const touch = (usage: number) => `reply\n  tool read {"path":"pkg/a.txt"}\n  usage input=${usage} output=50\n`;
      const fill = `reply\n  tool bash {"command":"seq 1000 2500"}\n  usage input=12000 output=50\n`;
      const talk = `${SUMMARY}${touch(6000)}${touch(7000)}${fill}${touch(16500)}${touch(5000)}reply\n  text: Done.\n`;
      const { mock, home, cwd, run } = await scene(talk);
      await mkdir(join(cwd, "pkg"));
      await writeFile(join(cwd, "AGENTS.md"), "Use tabs.");
      await writeFile(join(cwd, "pkg", "AGENTS.md"), "Two spaces here.");
      await writeFile(join(cwd, "pkg", "a.txt"), "a");
      await approve(cwd, { home });
      await approve(cwd, { home, paths: ["pkg/AGENTS.md"] });
      const { stdout } = await run(["run", ...ALLOW, "go"]);
      expect(compactions(stdout)).toHaveLength(1);
      const told = envelopes(stdout).flatMap((event) =>
        event.kind === "ToolResult" && event.payload.tool === "read"
          ? [JSON.stringify(event.payload.content).includes("Two spaces here.")]
          : [],
      );
      // The command fills the window: what is read after it is read in a shortened conversation.
      expect(told).toEqual([true, false, true, false]);
      expect(JSON.stringify(bodies(mock).at(-1)?.system)).toContain("Use tabs.");
    },
  );
});

describe("a local model", () => {
  verifies(["X7", "M16", "M20"], "is kept within the context that its requests get", async () => {
    const script = `model small context=131072\n${LONG_TURN}`;
    const { mock, run, env } = await scene(script, "num_ctx = 18000\n");
    const local = { ...env, ...providerEnvironment("ollama", mock.url), OXBOW_MODEL: "ollama:small" };
    const { code, stdout } = await run([...ALLOW, "find the heron"], { env: local });
    expect(code).toBe(0);
    expect(compactions(stdout)).toMatchObject([{ reason: "nearly full" }]);
    const chats = mock.requests.filter(({ path }) => path === "/api/chat");
    expect(chats).toHaveLength(5);
    for (const { body } of chats) expect(body).toMatchObject({ options: { num_ctx: 18000 } });
    const roomy = await scene(script, "num_ctx = 100000\n");
    const more = { ...roomy.env, ...providerEnvironment("ollama", roomy.mock.url), OXBOW_MODEL: "ollama:small" };
    expect(compactions((await roomy.run([...ALLOW, "find the heron"], { env: more })).stdout)).toEqual([]);
  });
});

describe("a conversation that the provider finds too long", () => {
  const tooLong = "reply\n  error too-long\n";

  verifies(
    ["X7", "M9", "O5"],
    "is shortened once and sent again; then it is a failure that says what to do",
    async () => {
      const talk = `${SUMMARY}reply\n  text: One.\nreply\n  text: Two.\n${tooLong}reply\n  text: Short enough.\n`;
      const unknown = { OXBOW_MODEL: "anthropic:nobody-knows-it" };
      const { mock, run, env } = await scene(talk);
      const options = { env: { ...env, ...unknown } };
      await run(["tell me one ".repeat(200)], options);
      await run(["--continue", "tell me two ".repeat(200)], options);
      const third = await run([...ALLOW, "--continue", "tell me three"], options);
      expect(third.code).toBe(0);
      expect(compactions(third.stdout)).toMatchObject([{ reason: "too long" }]);
      expect(JSON.stringify(bodies(mock).at(-1)?.messages)).toContain("tell me three");

      const hopeless = await scene(`${SUMMARY}reply\n  text: One.\n${tooLong.replace("reply", "reply times=any")}`);
      const again = { env: { ...hopeless.env, ...unknown } };
      await hopeless.run(["tell me one ".repeat(200)], again);
      const failed = await hopeless.run(["--continue", "tell me two"], again);
      expect(failed.code).toBe(1);
      expect(failed.stderr).toContain("(/clear)");
      expect(failed.stderr).toContain("Oxbow shortened it, but it is still too long.");
      expect(hopeless.mock.requests).toHaveLength(4);
    },
  );
});

describe("/compact and /summarize", () => {
  verifies(["X7", "U1"], "in the line client and for a stored session", async () => {
    const { mock, run } = await scene(`${SUMMARY}reply times=any\n  text repeat=200: The heron stands there. \n`);
    const input = [
      ...["hello", "more", "/summarize --show the legs", "/compact keep the beak in mind", "/compact", "again"],
      "",
    ].join("\n");
    const talk = await run(["run", "--plain"], { input });
    expect(talk.code).toBe(0);
    expect(talk.stdout).toContain("## Goal: find the heron\n");
    expect(talk.stdout).toMatch(/Conversation shortened: [\d.]+k → [\d.]+k tokens\./);
    const sent = bodies(mock);
    const wishes = sent.filter((body) => JSON.stringify(body).includes("You write the summary"));
    expect(JSON.stringify(wishes[0])).toContain("keeps this in mind: the legs");
    expect(JSON.stringify(wishes[1])).toContain("keeps this in mind: keep the beak in mind");
    expect(JSON.stringify(sent.at(-1)?.messages)).toContain("<summary>");

    const listed = JSON.parse((await run(["session", "list", "--json"])).stdout) as { id: string }[];
    const id = listed[0]?.id ?? "";
    const dry = await run(["session", "compact", id, "--dry-run"]);
    expect(dry.stdout).toBe("## Goal: find the heron\n");
    const done = await run(["session", "compact", id, "only", "the", "beak", "--json"]);
    expect(JSON.parse(done.stdout)).toMatchObject({
      session: id,
      shortened: true,
      tokens: { before: expect.any(Number) },
    });
    expect(JSON.stringify(bodies(mock).at(-1))).toContain("only the beak");
    const events = envelopes((await run(["session", "export", id, "--format", "jsonl"])).stdout);
    expect(events.filter(({ kind }) => kind === "CompactionTriggered")).toHaveLength(2);
  });
});
