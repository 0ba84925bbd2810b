/** The lifecycle seams through the real engine, with the mock model. */
import { afterEach, beforeEach, describe, expect } from "vitest";
import { type Lifecycle, lifecyclePart } from "../../src/extensions/plugins/lifecycle.js";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { verifies } from "../verifies.js";

let project: HookProject;
beforeEach(() => {
  project = new HookProject();
});
afterEach(() => project.remove());

const done = reply().text("Done.");
const bash = (command: string) => reply().tool("bash", { command });
const open = (replies: Parameters<HookProject["open"]>[0], ...lifecycles: readonly Lifecycle[]) =>
  project.open(replies, { parts: lifecycles.map((each) => (context) => lifecyclePart(each, context)) });

describe("lifecycle seams", () => {
  verifies(
    ["L15"],
    "a memory recalls before a turn, adds what it found before inference, and extracts after it",
    async () => {
      const seen: string[] = [];
      let recalled: Promise<string> | undefined;
      const memory: Lifecycle = {
        name: "memory",
        beforeTurn: ({ input }) => {
          seen.push(`recall for ${input}`);
          recalled = Promise.resolve("You like tabs.");
        },
        beforeInference: async ({ iteration }) => (iteration === 1 ? recalled : undefined),
        onToolEvidence: ({ tool, args, outcome }) => void seen.push(`${tool} ${args.command} ${outcome.status}`),
        afterTurn: ({ outcome, text, input, messages }) =>
          void seen.push(`${outcome} ${text} ${input} ${messages.length}`),
        close: () => void seen.push("closed"),
      };
      await open([bash("echo hi"), done, done], memory);
      const session = await project.session();
      const first = await project.turn("indent it");
      expect(first.of("ContextAdded")).toMatchObject([{ source: "memory", text: "You like tabs." }]);
      expect(first.lastRequest.match(/You like tabs\./g)).toHaveLength(1);
      await project.close();
      expect(seen).toEqual([
        "recall for indent it",
        "bash echo hi ok",
        "answered Done. indent it 5",
        "closed",
        "closed",
      ]);
      await open([done]);
      await project.session(session);
      expect((await project.turn("again")).lastRequest).toMatch(/indent it.*You like tabs\..*again/);
    },
  );

  verifies(["L15"], "facts are extracted before a compaction, which may be refused", async () => {
    const facts: string[] = [];
    const summaries: string[] = [];
    let refuse: string | undefined = "The facts are not saved yet.";
    const memory: Lifecycle = {
      name: "memory",
      beforeCompaction: async ({ messages, reason }) => {
        facts.push(
          `${reason}: ${JSON.stringify(messages)
            .match(/fact \d/g)
            ?.join()}`,
        );
        return refuse === undefined ? { keep: "Keep the port 8080." } : { refuse };
      },
      afterCompaction: async ({ summary, messages }) => {
        summaries.push(summary);
        expect(JSON.stringify(messages)).not.toContain("fact 1");
      },
    };
    await open([reply().text(`fact 1, fact 2. ${"Long. ".repeat(600)}`), reply().text("THE SUMMARY"), done], memory);
    await project.turn("tell");
    expect(JSON.stringify(await project.command("compact"))).toContain("The facts are not saved yet.");
    refuse = undefined;
    expect(await project.command("compact")).toMatchObject({ ok: true });
    expect(facts).toEqual(["asked: fact 1,fact 2", "asked: fact 1,fact 2"]);
    expect(summaries).toEqual([expect.stringContaining("THE SUMMARY")]);
    expect((await project.turn("more")).lastRequest).toContain("THE SUMMARY");
    // The summariser was asked to keep it.
    expect(project.requests().at(-2)).toContain("Keep the port 8080.");
  });

  verifies(["L15", "P2"], "an approval gate denies, asks and allows, and lifts no denial", async () => {
    const gate: Lifecycle = {
      name: "approvals",
      reviewCall: ({ args }, { verdict }) => {
        const command = String(args.command);
        if (command.includes("deploy")) return { decision: "deny", by: "approvals", reason: "Not on Fridays." };
        if (command.includes("ask")) return { decision: "ask", by: "approvals", reason: "It is important." };
        return verdict.decision === "ask" ? { decision: "allow", by: "approvals", reason: "Fine." } : undefined;
      },
    };
    const flags = ["--permission-mode", "ask"];
    const calls = [
      bash("echo deploy"),
      bash("echo ask"),
      bash("touch made"),
      bash("security find-generic-password -w x"),
    ];
    await project.open([...calls, reply().tool("write", { path: ".git/config", content: "x" }), done], {
      flags,
      parts: [(context) => lifecyclePart(gate, context)],
    });
    const { results } = await project.turn();
    expect(results[0]).toContain("Not on Fridays.");
    expect(results[1]).toMatch(/^denied: .*It is important\./s);
    expect(results[2]).toMatch(/^ok/);
    expect(results[3]).toMatch(/^denied/);
    expect(results[4]).toMatch(/^denied/);
    expect(project.read("made")).toBe("");
  });

  verifies(
    ["L15"],
    "code that fails is reported once and takes no turn with it; a failing review stops its call",
    async () => {
      const broken: Lifecycle = {
        name: "broken",
        beforeTurn: () => {
          throw new Error("no database");
        },
        beforeInference: () => Promise.reject(new Error("no index")),
        onToolEvidence: () => Promise.reject(new Error("no disk")),
        afterTurn: () => {
          throw new Error("no queue");
        },
        reviewCall: () => {
          throw new Error("no policy");
        },
      };
      await open([bash("touch made"), done, done], broken);
      const first = await project.turn();
      expect(first.of("TurnEnded")[0]).toMatchObject({ outcome: "answered" });
      expect(first.results[0]).toContain("no policy");
      expect(project.read("made")).toBeUndefined();
      const notices = first.of("Notice").map(({ message }) => message);
      expect(notices.slice(0, 3)).toEqual([
        "broken failed in beforeTurn: no database",
        "broken failed in beforeInference: no index",
        "broken failed in onToolEvidence: no disk",
      ]);
      const second = await project.turn();
      expect(second.of("Notice").filter(({ message }) => !message.includes("afterTurn"))).toEqual([]);
    },
  );

  verifies(["L15"], "a turn may be stopped before the model is asked, and several take part in order", async () => {
    const adds = (name: string): Lifecycle => ({ name, beforeTurn: () => ({ context: `from ${name}` }) });
    const stops: Lifecycle = {
      name: "zz-stops",
      beforeTurn: ({ input }) => (input === "no" ? { stop: "Out of hours." } : undefined),
    };
    await open([done], adds("bb"), adds("aa"), stops);
    expect((await project.turn("yes")).lastRequest).toMatch(/yes.*from aa.*from bb/);
    const stopped = await project.turn("no");
    expect(stopped.of("TurnEnded")[0]).toMatchObject({ outcome: "stopped" });
    expect(stopped.requests).toBe(1);
  });
});
