import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { times } from "../../../test/support/thorough.js";
import { verifies } from "../../../test/verifies.js";
import { type Message, text } from "../../protocol/content.js";
import type { Envelope } from "../../protocol/envelope.js";
import { EXPIRED } from "../../protocol/events.js";
import type { SessionId } from "../../protocol/ids.js";
import { derivedId } from "../branch.js";
import { rebuildConversation } from "../conversation.js";
import type { SessionStore } from "../store.js";
import { openFilesStore } from "./files-store.js";
import { SAMPLE_KEY, Script, sampleIds, sampleSession } from "./test-support/sample.js";

const TICKS = "`".repeat(3);
const session = sampleSession(1);
const ids = sampleIds(9);
const [A, B, C] = [ids.next("call"), ids.next("call"), ids.next("call")];

let folder: string;
let store: SessionStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "oxbow-messages-"));
  store = await openFilesStore({ folder, key: SAMPLE_KEY });
  await store.create(session);
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const place = (...names: readonly string[]) => join(folder, session.id, ...names);
const message = (name: string) => place("messages", name);
const names = async () => (await readdir(place("messages"))).sort();
const contents = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all((await names()).map(async (name) => [name, await readFile(message(name), "utf8")])),
  );

async function record(script: Script): Promise<void> {
  await store.append(session.id, script.events, "sync");
  // The message files follow the log; who asks about edits waits for them.
  await store.editedConversation?.(session.id).catch(() => undefined);
}

async function reopen(): Promise<void> {
  await store.close();
  store = await openFilesStore({ folder, key: SAMPLE_KEY });
}

async function edit(name: string, change: (text: string) => string): Promise<void> {
  await writeFile(message(name), change(await readFile(message(name), "utf8")));
}

/** A question, a call with its result, an answer. */
function oneTurn(from = new Script(session.id)): Script {
  return from
    .asks("What is here?")
    .says("I ", "look.")
    .paid({ calls: 1 })
    .calls(A, "bash", { command: "ls" })
    .returns(A, "bash", "a.txt")
    .says("One file.")
    .paid()
    .ends();
}

const user = (...texts: readonly string[]): Message => ({ role: "user", content: texts.map(text) });
const FIRST: readonly Message[] = [
  user("What is here?"),
  {
    role: "assistant",
    content: [text("I look."), { type: "tool_use", call: A, tool: "bash", args: { command: "ls" } }],
  },
  {
    role: "user",
    content: [{ type: "tool_result", call: A, tool: "bash", content: [text("a.txt")], is_error: false }],
  },
  { role: "assistant", content: [text("One file.")] },
];

describe("the folder of messages", () => {
  verifies(["S7"], "holds the conversation as numbered Markdown files", async () => {
    await record(oneTurn());
    await store.close();
    expect(await names()).toEqual(["0001-user.md", "0002-assistant.md", "0003-tool_result.md", "0004-assistant.md"]);
    expect(await readFile(message("0002-assistant.md"), "utf8")).toBe(
      `---\nrole: assistant\nseq: 2\ntimestamp: 2026-01-31T12:00:00.004Z\nmodel: echo\nprovider: offline\nstop: tool_calls\n` +
        `input_tokens: 10\noutput_tokens: 5\ncache_read_tokens: 0\ncache_write_tokens: 0\nreasoning_tokens: 0\n---\n\nI look.\n\n` +
        `${TICKS}tool_call id=${A} name=bash\n{"command":"ls"}\n${TICKS}\n`,
    );
    expect(await readFile(message("0003-tool_result.md"), "utf8")).toBe(
      `---\nrole: tool_result\nseq: 3\ntimestamp: 2026-01-31T12:00:00.006Z\ncall: ${A}\ntool: bash\nstatus: ok\n---\n\na.txt\n`,
    );
    expect(await readFile(place("session.conf"), "utf8")).toContain("active_at=2026-01-31T12:00:00.009Z\n");
    for (const name of ["session.conf", "events.jsonl", "ledger.jsonl", "messages/0001-user.md"]) {
      expect((await stat(place(name))).mode & 0o777, name).toBe(0o600);
    }
    for (const name of ["", "messages"]) expect((await stat(place(name))).mode & 0o777).toBe(0o700);
  });

  verifies(["S7"], "puts an answer before results that came while it was still being written", async () => {
    const script = new Script(session.id)
      .asks("go")
      .says("both")
      .calls(A, "read")
      .returns(A, "read", "early")
      .calls(C, "read")
      .returns(C, "read", "earlier")
      .says("!")
      .paid({ calls: 3 })
      .calls(B, "bash")
      .returns(B, "bash", "late", "error");
    // In pieces, so that files are written, and written again, in between.
    for (const event of script.events) {
      await store.append(session.id, [event], "group");
      await store.editedConversation?.(session.id);
    }
    await record(script.next.ends());
    await store.close();
    const files = await contents();
    expect(Object.keys(files)).toEqual([
      "0001-user.md",
      "0002-assistant.md",
      "0003-tool_result.md",
      "0004-tool_result.md",
      "0005-tool_result.md",
    ]);
    expect(files["0003-tool_result.md"]).toContain("early\n");
    expect(files["0002-assistant.md"]).toContain(
      `both!\n\n${TICKS}tool_call id=${A} name=read\n{}\n${TICKS}\n\n${TICKS}tool_call id=${C} name=read\n{}\n${TICKS}\n\n${TICKS}tool_call id=${B}`,
    );
    expect(files["0005-tool_result.md"]).toContain("status: error\n---\n\nlate\n");
  });

  verifies(["S7"], "says how an answer stopped", async () => {
    const stop = async (script: Script) => {
      const fresh = await openFilesStore({ folder: join(folder, "other"), key: SAMPLE_KEY });
      await fresh.create(session);
      await fresh.append(session.id, script.events, "group");
      await fresh.close();
      const at = join(folder, "other", session.id, "messages");
      const last =
        (await readdir(at))
          .filter((name) => name.endsWith("-assistant.md"))
          .sort()
          .at(-1) ?? "";
      const text = await readFile(join(at, last), "utf8");
      await rm(join(folder, "other"), { recursive: true });
      return /^stop: (.*)$/m.exec(text)?.[1];
    };
    const said = () => new Script(session.id).asks("go").says("so far");
    expect(await stop(said().paid().ends())).toBe("end");
    expect(await stop(said().paid().ends({ truncated: true }))).toBe("length");
    expect(await stop(said().paid({ interrupted: true }).ends({ outcome: "cancelled" }))).toBe("error");
    expect(await stop(said().ends({ outcome: "cancelled" }))).toBe("error");
    expect(await stop(said().paid().ends({ outcome: "failed" }))).toBe("error");
    expect(await stop(said().asks("again").ends())).toBe("error");
    const called = said().paid({ calls: 1 }).calls(A, "bash").returns(A, "bash", "x");
    expect(await stop(called.ends({ outcome: "failed" }))).toBe("tool_calls");
  });

  verifies(["S7"], "is caught up with when the process ended before it was written", async () => {
    const whole = oneTurn();
    await record(whole);
    await store.close();
    const before = await contents();
    await rm(place("messages"), { recursive: true });
    await mkdir(place("messages"), { mode: 0o700 });
    await writeFile(place("messages.jsonl"), "");
    await writeFile(message("0001-user.md"), before["0001-user.md"] ?? "");
    await writeFile(message(".0002-assistant.md.0123456789ab.tmp"), "half");
    store = await openFilesStore({ folder, key: SAMPLE_KEY });
    await record(whole.next.asks("more").says("yes").paid().ends());
    await store.close();
    const after = await contents();
    expect(after).toMatchObject(before);
    expect(Object.keys(after).slice(4)).toEqual(["0005-user.md", "0006-assistant.md"]);
    expect((await names()).some((name) => name.endsWith(".tmp"))).toBe(false);
  });

  verifies(["S7"], "makes the conversation that the events make", async () => {
    const step = fc.constantFrom("say", "think", "early", "late", "cost", "yield", "cancel", "end");
    const fates = fc.array(fc.array(step, { maxLength: 12 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fates, fc.array(fc.nat(9), { maxLength: 6 }), async (turns, cuts) => {
        const events = randomRun(turns);
        await store.remove(session.id);
        await store.create(session);
        let from = 0;
        for (const cut of [...cuts, events.length]) {
          await store.append(session.id, events.slice(from, from + cut), "group");
          from += cut;
          if (cut % 2 === 0) await store.editedConversation?.(session.id);
        }
        expect(await store.editedConversation?.(session.id)).toBeUndefined();
        await writeFile(message("9999-user.md"), "the end\n");
        const { messages } = await rebuildConversation(store.events(session.id));
        const edited = await store.editedConversation?.(session.id);
        expect(edited).toEqual(joinedUsers([...messages, user("the end")]));
      }),
      { numRuns: times(8, 25) },
    );
  });
});

/** A run of whole turns; what a real engine would not do is left out. */
function randomRun(turns: readonly (readonly string[])[]): readonly Envelope[] {
  const script = new Script(session.id);
  const calls = sampleIds(20);
  for (const steps of turns) {
    script.asks("question");
    for (const step of [...steps, "end"]) {
      const call = calls.next("call");
      if (step === "say") script.says("some ", "words");
      if (step === "think")
        script
          .thinks({ text: "hm" })
          .thinks({ text: "", provider: "p", opaque: { s: 1 } })
          .says("aloud")
          .paid();
      if (step === "early") script.calls(call, "read").returns(call, "read", "found").says("so").paid();
      if (step === "late") {
        const second = calls.next("call");
        script.says("run").paid({ calls: 2 }).calls(call, "bash", { a: 1 }).returns(call, "bash", "1");
        script.calls(second, "bash").returns(second, "bash", "2", "error");
      }
      if (step === "cost") script.says("done").paid();
      if (step === "yield") script.says("a", "b").paid({ blocks: [{ type: "text", deltas: 2 }, { type: "yield" }] });
      if (step === "cancel" || step === "end") {
        script.ends({ outcome: step === "end" ? "answered" : "cancelled" });
        break;
      }
    }
  }
  return script.events;
}

/** As `conversationOf` joins neighbours; a cancelled turn's whole answer counts as interrupted there. */
function joinedUsers(messages: readonly Message[]): readonly unknown[] {
  const joined: { role: string; content: unknown[] }[] = [];
  for (const { role, content } of messages) {
    const last = joined.at(-1);
    if (last?.role === role) last.content.push(...content);
    else joined.push({ role, content: [...content] });
  }
  return joined.map((each) => (each.role === "user" ? each : expect.objectContaining(each)));
}

describe("an edited conversation", () => {
  const edited = () => store.editedConversation?.(session.id);

  verifies(["S7"], "is not one while no file was changed, whatever the times of the files are", async () => {
    expect(await edited()).toBeUndefined();
    await record(oneTurn());
    expect(await edited()).toBeUndefined();
    await reopen();
    const before = await readFile(message("0001-user.md"));
    await writeFile(message("0001-user.md"), before);
    expect(await edited()).toBeUndefined();
    await writeFile(message("notes.txt"), "x");
    await writeFile(message(".0001-user.md.swp"), "x");
    await writeFile(message("0001-user.md~"), "x");
    expect(await edited()).toBeUndefined();
  });

  verifies(["S7"], "follows a changed, a deleted and an added file, now and on every later resume", async () => {
    await record(oneTurn());
    expect(await edited()).toBeUndefined();
    await edit("0004-assistant.md", (all) => all.replace("One file.", "No file."));
    const changed = [...FIRST.slice(0, 3), { role: "assistant", content: [text("No file.")] }];
    expect(await edited()).toEqual(changed);
    await reopen();
    expect(await edited()).toEqual(changed);

    await unlink(message("0004-assistant.md"));
    expect(await edited()).toEqual(FIRST.slice(0, 3));
    await writeFile(message("7-user.md"), "And now?\r\n");
    const [question, answer, results] = FIRST as readonly [Message, Message, Message];
    const asked = { role: "user", content: [...results.content, text("And now?")] };
    expect(await edited()).toEqual([question, answer, asked]);

    const next = new Script(session.id, 10).asks("Go on.").says("On it.").paid().ends();
    await record(next);
    const goneOn = [
      question,
      answer,
      { role: "user", content: [...results.content, text("And now?"), text("Go on.")] },
      { role: "assistant", content: [text("On it.")] },
    ];
    expect(await edited()).toEqual(goneOn);
    await reopen();
    expect(await edited()).toEqual(goneOn);
    expect(await names()).toEqual([
      "0001-user.md",
      "0002-assistant.md",
      "0003-tool_result.md",
      "0008-user.md",
      "0009-assistant.md",
      "7-user.md",
    ]);
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 13 });
    const { messages } = await rebuildConversation(store.events(session.id));
    expect(messages.slice(0, 4)).toEqual(FIRST);
  });

  verifies(["S7"], "does not hold the question of the turn that has begun", async () => {
    await record(oneTurn());
    await edited();
    await edit("0001-user.md", (all) => all.replace("What", "Who"));
    await record(new Script(session.id, 10).asks("Next question."));
    expect(await edited()).toEqual([user("Who is here?"), ...FIRST.slice(1)]);
    await reopen();
    expect(await edited()).toEqual([user("Who is here?"), ...FIRST.slice(1)]);
    expect(await names()).toContain("0005-user.md");
  });

  verifies(["S7"], "is not overwritten while the turn runs", async () => {
    const begun = new Script(session.id).asks("go").says("I run it.").paid({ calls: 1 });
    await record(begun);
    await edited();
    await edit("0002-assistant.md", (all) => all.replace("I run it.", "I do."));
    await unlink(message("0001-user.md"));
    await record(begun.next.calls(A, "bash").returns(A, "bash", "done").ends());
    expect(await edited()).toEqual([
      expect.objectContaining({ role: "user" }),
      { role: "assistant", content: [text("I do.")] },
    ]);
    expect(await names()).toEqual(["0002-assistant.md", "0003-tool_result.md"]);
  });

  verifies(["S7"], "is put right where a provider would refuse it", async () => {
    const turn = new Script(session.id)
      .asks("go")
      .says("three")
      .paid({ calls: 3 })
      .calls(A, "bash")
      .returns(A, "bash", "1")
      .calls(B, "bash")
      .returns(B, "bash", "2")
      .calls(C, "read")
      .returns(C, "read", "3")
      .says("done")
      .paid()
      .ends();
    await record(turn);
    await edited();
    // The results of A and C change places, that of B is gone, and one belongs to no call.
    await rename(message("0003-tool_result.md"), message("0006-tool_result.md"));
    await unlink(message("0004-tool_result.md"));
    await writeFile(message("0004-tool_result.md"), "---\ncall: call_nobody\n---\nstray\n");
    await writeFile(message("0008-assistant.md"), "\n\n");
    await writeFile(message("0009-assistant.md"), "\nmore\n");
    await writeFile(message("0010-user.md"), "   ");
    const result = (call: string, tool: string, words: unknown, is_error = false) => ({
      type: "tool_result",
      call,
      tool,
      content: [{ type: "text", text: words, ...(is_error && { own: true }) }],
      is_error,
    });
    expect(await edited()).toEqual([
      user("go"),
      expect.objectContaining({ role: "assistant" }),
      {
        role: "user",
        content: [
          result(A, "bash", "1"),
          result(B, "bash", expect.stringContaining("missing"), true),
          result(C, "read", "3"),
        ],
      },
      // The answer came before the result that was moved behind it.
      { role: "assistant", content: [text("done"), text("more")] },
    ]);
    await unlink(message("0001-user.md"));
    expect((await edited())?.[0]).toEqual(user("(The beginning of this conversation was removed.)"));
  });

  it("takes a result that names no call for the next one without, and leaves out a call that is there twice", async () => {
    await writeFile(message("1-user.md"), "go");
    await writeFile(message("2-assistant.md"), `${TICKS}tool_call name=bash\n{"command":"ls"}\n${TICKS}\n`);
    await writeFile(message("3-tool_result.md"), "a.txt");
    await writeFile(message("4-assistant.md"), `${TICKS}tool_call id=call_2_0 name=bash\n{}\n${TICKS}\n\nend`);
    expect(await edited()).toEqual([
      user("go"),
      { role: "assistant", content: [{ type: "tool_use", call: "call_2_0", tool: "bash", args: { command: "ls" } }] },
      {
        role: "user",
        content: [{ type: "tool_result", call: "call_2_0", tool: "bash", content: [text("a.txt")], is_error: false }],
      },
      { role: "assistant", content: [text("end")] },
    ]);
  });

  verifies(["S6", "S7"], "is what a branch begins with, at the end of any turn", async () => {
    const first = oneTurn();
    await record(first);
    const second = first.next.asks("And now?").says("Nothing.").paid().ends();
    await record(second);
    await edit("0002-assistant.md", (words) => words.replace("I look.", "I look closely."));
    await unlink(message("0004-assistant.md"));
    await writeFile(message("0004-user.md"), "Wait.\n");
    await edit("0006-assistant.md", (words) => words.replace("Nothing", "Nothing at all"));
    const branch = async (seed: number, until: Script) => {
      const event = until.events.at(-1)?.id as number;
      const copy = { ...sampleSession(seed), branch_of: { session: session.id, event } };
      await store.branch(copy);
      return { copy, call: derivedId("call", A, copy.log) };
    };
    const whole = await branch(2, second);
    const beginning = await branch(3, first);
    await reopen();
    const renamed = (messages: unknown, call: string) => JSON.parse(JSON.stringify(messages).replaceAll(A, call));
    expect(await store.editedConversation?.(whole.copy.id)).toEqual(renamed(await edited(), whole.call));
    expect(JSON.stringify(await edited())).toContain("Nothing at all");
    expect(await store.editedConversation?.(beginning.copy.id)).toEqual(
      renamed((await edited())?.slice(0, 3), beginning.call).map((each: Message, i: number) =>
        i === 2 ? { ...each, content: [...each.content.slice(0, 1), text("Wait.")] } : each,
      ),
    );
    // Both go on, and what was deleted does not come back.
    await store.append(
      beginning.copy.id,
      new Script(beginning.copy.id, 10).asks("more").says("yes").paid().ends().events,
      "sync",
    );
    await store.editedConversation?.(beginning.copy.id);
    expect((await readdir(join(folder, beginning.copy.id, "messages"))).sort()).toEqual([
      "0001-user.md",
      "0002-assistant.md",
      "0003-tool_result.md",
      "0004-user.md",
      "0005-user.md",
      "0006-assistant.md",
    ]);
  });

  verifies(["S7"], "begins with the last summary", async () => {
    const script = oneTurn();
    await record(script);
    const compaction = script.next.asks("sum up");
    compaction.add({
      kind: "CompactionTriggered",
      payload: { turn: sampleIds(5).next("turn"), reason: "length", summary: "One file was found." },
    });
    await record(compaction.says("ok").paid().ends());
    await edit("0001-user.md", () => "gone\n");
    // What stands behind the summary is not part of the conversation.
    expect(await edited()).toBeUndefined();
    await unlink(message("0006-user.md"));
    expect((await edited())?.[0]).toEqual(user("gone"));
  });

  it("keeps thoughts, images and blocks of providers", async () => {
    const image = { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" } as const;
    const script = new Script(session.id)
      .asks("look", image)
      .thinks({ text: "hm" })
      .thinks({ text: "", provider: "anthropic", opaque: { signature: "s`1" } })
      .says("I see")
      .paid({
        blocks: [
          { type: "thinking", deltas: 2 },
          { type: "opaque", provider: "anthropic", data: { search: [1] } },
          { type: "text", deltas: 1 },
          { type: "yield" },
        ],
      })
      .ends();
    await record(script);
    await edited();
    await writeFile(message("0003-user.md"), "bye");
    expect(await edited()).toEqual([
      { role: "user", content: [text("look"), image] },
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm", provider: "anthropic", opaque: { signature: "s`1" } },
          { type: "opaque", provider: "anthropic", data: { search: [1] } },
          text("I see"),
          { type: "yield" },
        ],
      },
      user("bye"),
    ]);
  });

  it("names the file that cannot be read", async () => {
    await record(oneTurn());
    await edited();
    const whole = await readFile(message("0001-user.md"));
    const refusal = (file: string, what: RegExp) => ({
      code: expect.any(String),
      message: expect.stringMatching(new RegExp(`${file}.*${what.source}`)),
    });
    await writeFile(message("0001-user.md"), Buffer.from([0x61, 0xff, 0xfe]));
    await expect(edited()).rejects.toMatchObject(refusal("0001-user\\.md", /is not UTF-8 text\. Save it as UTF-8/));
    await unlink(message("0001-user.md"));
    await symlink("/etc/passwd", message("0001-user.md"));
    await expect(edited()).rejects.toMatchObject(refusal("0001-user\\.md", /it is a link and should be a file/));
    await unlink(message("0001-user.md"));
    await writeFile(message("0001-user.md"), whole);
    expect(await edited()).toEqual(FIRST);
  });

  verifies(["S7"], "survives the loss of the index", async () => {
    const script = oneTurn();
    await record(script);
    await store.close();
    await unlink(place("messages.jsonl"));
    store = await openFilesStore({ folder, key: SAMPLE_KEY });
    expect(await edited()).toBeUndefined();
    await store.close();
    await unlink(place("messages.jsonl"));
    await edit("0004-assistant.md", (all) => all.replace("One", "1"));
    store = await openFilesStore({ folder, key: SAMPLE_KEY });
    expect(await edited()).toEqual([...FIRST.slice(0, 3), { role: "assistant", content: [text("1 file.")] }]);
    expect(await names()).toHaveLength(4);
  });

  it("is empty when everything was deleted", async () => {
    await record(oneTurn());
    await edited();
    await rm(place("messages"), { recursive: true });
    expect(await edited()).toEqual([]);
    await record(new Script(session.id, 10).asks("Again.").says("Yes.").paid().ends());
    expect(await edited()).toEqual([user("Again."), { role: "assistant", content: [text("Yes.")] }]);
    expect(await names()).toEqual(["0005-user.md", "0006-assistant.md"]);
  });

  verifies(["S7"], "loses its text when it expires, edited or not, and keeps its kind", async () => {
    await record(oneTurn());
    await record(new Script(session.id, 10).asks("Later.").says("Still here.").paid().ends());
    await store.expire(session.id, 9);
    expect(await edited()).toBeUndefined();
    expect(await store.verify(session.id)).toEqual({ ok: true, events: 13 });
    const files = Object.entries(await contents());
    expect(files.slice(0, 4).every(([, file]) => file.includes(EXPIRED))).toBe(true);
    expect(files.map(([, file]) => file).join("")).not.toMatch(/What is here|I look|"ls"|a\.txt|One file/);
    expect(files.at(-1)?.[1]).toContain("Still here.");
    await edit("0005-user.md", (all) => all.replace("Later.", "My words."));
    await edited();
    await store.expire(session.id, 11);
    const later = await contents();
    expect(later["0005-user.md"]).not.toContain("My words.");
    expect((await store.get(session.id))?.expired_to).toBe(11);
    expect((await edited())?.at(-1)).toEqual({ role: "assistant", content: [text(EXPIRED)] });
  });

  it("does not get its text back when its turn continues", async () => {
    const begun = new Script(session.id).asks("a secret").says("kept").paid({ calls: 1 });
    await record(begun);
    await edited();
    await store.expire(session.id, 3);
    await record(begun.next.calls(A, "bash").returns(A, "bash", "new").ends());
    expect(await edited()).toBeUndefined();
    const files = Object.values(await contents()).join("");
    expect(files).not.toMatch(/secret|kept/);
    expect(files).toContain("new");
  });

  it("refuses a session that is not there", async () => {
    const stranger = sampleSession(3).id as SessionId;
    await expect(store.editedConversation?.(stranger)).rejects.toMatchObject({ code: "not-found" });
    await expect(store.editedConversation?.("sess_../../x" as SessionId)).rejects.toMatchObject({ code: "not-found" });
  });
});
