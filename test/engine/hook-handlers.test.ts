/** Hooks that are not programs, and the fields of all hooks, as the documentation of Claude Code describes them. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reply } from "../../src/testkit/index.js";
import { HookProject } from "../support/hook-project.js";
import { verifies } from "../verifies.js";

let project: HookProject;
let server: Server;
let got: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
let answer: { readonly status: number; readonly body: string };

beforeEach(async () => {
  project = new HookProject();
  got = [];
  answer = { status: 200, body: "" };
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    got.push({ headers: request.headers, body });
    response.writeHead(answer.status, { location: "http://elsewhere.invalid/" }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  await project.remove();
  server.close();
  server.closeAllConnections();
});

const bash = (command: string) => reply().tool("bash", { command });
const done = reply().text("Done.");
const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
const deny = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "not here" };

describe("a hook of type http", () => {
  verifies(["E3"], "sends the event, with the variables that it lists, and obeys the answer", async () => {
    const headers = { Authorization: "Bearer $PATH", "X-Other": "[${HOME}]" };
    const hook = { type: "http", url: address(), headers, allowedEnvVars: ["PATH"], timeout: 5 };
    project.userSettings({ PreToolUse: [{ matcher: "Bash", hooks: [hook] }] });
    answer = { status: 200, body: JSON.stringify({ hookSpecificOutput: deny }) };
    const { results } = await project.run([bash("touch made"), done]);
    expect(results).toEqual([expect.stringMatching(/^denied: .*not here/s)]);
    expect(got[0]?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: `Bearer ${process.env.PATH}`,
      "x-other": "[]",
    });
    expect(JSON.parse(got[0]?.body ?? "")).toMatchObject({
      ...{ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "touch made" } },
    });
  });

  verifies(["E3"], "that fails, redirects or answers with text changes nothing and is reported", async () => {
    project.userSettings({ PreToolUse: [{ hooks: [{ type: "http", url: address() }] }] });
    await project.open([bash("echo 1"), done, bash("echo 2"), done, bash("echo 3"), done]);
    for (const [status, body] of [
      [500, JSON.stringify({ hookSpecificOutput: deny })],
      [302, ""],
      [200, "just text"],
    ] as const) {
      answer = { status, body };
      const { results, of } = await project.turn();
      expect(results[0]).toMatch(/^ok: \d/);
      expect(of("HookError")).toHaveLength(1);
    }
    expect(got).toHaveLength(3);
  });

  verifies(["E3", "P9"], "of a project reaches no service of this machine", async () => {
    project.settings({ PreToolUse: [{ hooks: [{ type: "http", url: address() }] }] });
    const { results, of } = await project.run([bash("echo hi"), done]);
    expect(results[0]).toMatch(/^ok: hi/);
    expect(of("HookError")).toEqual([expect.objectContaining({ command: `POST ${address()}` })]);
    expect(got).toEqual([]);
  });
});

describe("a hook of type prompt", () => {
  const verdict = (ok: boolean, more: object = {}) => reply().text(`Here: ${JSON.stringify({ ok, ...more })}`);

  verifies(["E3", "O1"], "asks the model once, pays for it, and its refusal continues the turn", async () => {
    project.settings({ Stop: [{ hooks: [{ type: "prompt", prompt: "Is all done? \\$5 $ARGUMENTS" }] }] });
    const replies = [reply().text("First."), verdict(false, { reason: "tests are missing" }), done, verdict(true)];
    const { of, requests } = await project.run(replies);
    expect(requests).toBe(4);
    expect(of("TurnEnded")).toMatchObject([{ outcome: "answered", text: "Done." }]);
    expect(of("CostIncremented").filter(({ purpose }) => purpose === "hook")).toHaveLength(2);
    expect(of("ContextAdded")).toMatchObject([
      { source: "hook Stop", text: expect.stringContaining("tests are missing") },
    ]);
  });

  verifies(["E3"], "gets the event in its prompt, and an impossible condition ends the turn", async () => {
    project.settings({ Stop: [{ hooks: [{ type: "prompt", prompt: "Is all done?" }] }] });
    await project.open([done, verdict(false, { reason: "never", impossible: true })]);
    const { of } = await project.turn("please");
    expect(of("TurnEnded")).toMatchObject([{ outcome: "answered" }]);
    expect(project.requests()[1]).toMatch(/Is all done\?\\n\\n\{.*last_assistant_message\\":\\"Done\./);
  });

  verifies(["E3"], "before a call denies it and ends the turn, or tells the model with continueOnBlock", async () => {
    const ask = { type: "prompt", prompt: "Safe?", timeout: 20 };
    project.settings({ PreToolUse: [{ matcher: "Bash", hooks: [{ ...ask, continueOnBlock: true }] }] });
    const refused = verdict(false, { reason: "too risky" });
    const first = await project.run([bash("touch made"), refused, done]);
    expect(first.results).toEqual([expect.stringMatching(/^denied: .*too risky/s)]);
    expect(first.of("TurnEnded")).toMatchObject([{ outcome: "answered" }]);
    project.settings({ PreToolUse: [{ matcher: "Bash", hooks: [ask] }] });
    const second = await project.run([bash("touch made"), refused, done]);
    expect(second.of("TurnEnded")).toMatchObject([{ outcome: "stopped" }]);
    expect(project.read("made")).toBeUndefined();
  });

  it("that gets no verdict changes nothing, and ok allows nothing", async () => {
    project.settings({ PreToolUse: [{ hooks: [{ type: "prompt", prompt: "Safe?" }] }] });
    const flags = ["--permission-mode", "deny"];
    const { results, of } = await project.run([bash("touch made"), reply().text("Hm."), done], flags);
    expect(results[0]).toMatch(/^denied/);
    expect(of("HookError")).toHaveLength(1);
    const { results: denied } = await project.run([bash("touch made"), verdict(true), done], flags);
    expect(denied[0]).toMatch(/^denied/);
  });
});

describe("a hook of type agent", () => {
  verifies(["E3", "L17"], "looks around with tools, and starts no hook like itself", async () => {
    const agent = { type: "agent", prompt: "Is notes.txt written?" };
    project.settings({
      Stop: [{ hooks: [agent] }],
      SubagentStop: [{ hooks: [agent] }],
      PreToolUse: [{ hooks: [agent] }],
    });
    project.put("notes.txt", "not yet");
    const replies = [
      reply().text("First."),
      reply().tool("read", { path: "notes.txt" }),
      reply().text('{"ok": false, "reason": "notes.txt says: not yet"}'),
      done,
      reply().text('{"ok": true}'),
    ];
    const { of, requests } = await project.run(replies);
    const failures = [...of("HookError"), ...of("HookTimeout"), ...of("Error")];
    expect({ failures, requests }).toEqual({ failures: [], requests: 5 });
    expect(of("SubagentStarted")).toMatchObject([{ type: "hook" }, { type: "hook" }]);
    expect(of("ContextAdded")).toMatchObject([{ text: expect.stringContaining("says: not yet") }]);
    expect(of("TurnEnded")).toMatchObject([{ outcome: "answered", text: "Done." }]);
  });
});

describe("all hooks", () => {
  const command = (line: string, more: object = {}) => ({ type: "command", command: line, ...more });

  verifies(["E3"], "after all calls of an answer see them together, and can stop the turn", async () => {
    project.settings({
      PostToolBatch: [{ matcher: "ignored", hooks: [command("cat > batch.json; echo enough >&2; exit 2")] }],
    });
    const two = reply().tool("bash", { command: "echo 1" }).tool("bash", { command: "echo 2" });
    const { of } = await project.run([two, done]);
    expect(of("TurnEnded")).toMatchObject([{ outcome: "stopped" }]);
    const calls = { tool_calls: [{ tool_name: "Bash", tool_response: "1" }, { tool_input: { command: "echo 2" } }] };
    expect(JSON.parse(project.read("batch.json") ?? "")).toMatchObject(calls);
  });

  verifies(["E3"], "in the background pass their context on later, and say what they do meanwhile", async () => {
    const late = '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"the build broke"}}';
    project.settings({
      PostToolUse: [{ hooks: [command(`cat > /dev/null; echo '${late}'; touch ended`, { async: true })] }],
      UserPromptSubmit: [
        {
          hooks: [command("while [ -e wait ] && [ ! -e ended ]; do sleep 0.02; done", { statusMessage: "Counting…" })],
        },
      ],
    });
    await project.open([bash("touch wait"), ...Array(12).fill(done)]);
    const { of } = await project.turn("one");
    const shown = of("Notice").map(({ level, message }) => `${level}: ${message}`);
    expect(shown).toEqual(["progress: Counting…", "progress: "]);
    const hasContext = () => project.requests().some((body) => body.includes("the build broke"));
    // The hook may end in the middle of the next turn.
    for (let more = 0; more < 10 && !hasContext(); more++) await project.turn("more");
    expect(hasContext()).toBe(true);
  });

  verifies(["E3"], "may print JSON with any exit code; code 2 still refuses", async () => {
    const json = (decision: string) =>
      JSON.stringify({ hookSpecificOutput: { ...deny, permissionDecision: decision } });
    project.userSettings({ PreToolUse: [{ matcher: "Bash", hooks: [command(`echo '${json("deny")}'; exit 1`)] }] });
    expect((await project.run([bash("true"), done])).results[0]).toMatch(/^denied: .*not here/s);
    project.userSettings({ PreToolUse: [{ hooks: [command(`echo '${json("allow")}'; echo no >&2; exit 2`)] }] });
    expect((await project.run([bash("true"), done])).results[0]).toMatch(/^denied: .*no/s);
    project.userSettings({ SessionStart: [{ hooks: [command("echo '{not json'; exit 0")] }] });
    expect((await project.run([done])).lastRequest).toContain("{not json");
  });
});
