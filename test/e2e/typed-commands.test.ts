import { afterEach, describe, expect } from "vitest";
import { type MockModel, startMockModel } from "../../src/testkit/index.js";
import { oxbow, providerEnvironment } from "../support/program.js";
import { verifies } from "../verifies.js";

const mocks: MockModel[] = [];
afterEach(async () => {
  for (const mock of mocks.splice(0)) await mock.close();
});

async function model(): Promise<{ mock: MockModel; env: Record<string, string> }> {
  const mock = await startMockModel({ script: "reply\n  text: sent\n" });
  mocks.push(mock);
  return { mock, env: providerEnvironment("openai", mock.url) };
}

const REFUSED: readonly (readonly [args: readonly string[], advice: RegExp])[] = [
  [["sesion", "delete", "X"], /no command 'sesion'.*Did you mean 'oxbow session'.*oxbow "sesion delete X"/],
  [["sesion", "list", "--all"], /no command 'sesion'/],
  [["login"], /'oxbow auth set PROVIDER'.*oxbow run login/],
  [["xyzzy"], /no command 'xyzzy'.*'oxbow --help'/],
  [["sess_zzz", "hi"], /'sess_zzz'/],
  [["fix", "the", "tests"], /oxbow "fix the tests"/],
  [["HELP"], /'oxbow help'/],
  [["undo"], /'oxbow session undo'/],
  [["--model", "openai:m", "session", "list"], /Put the command before its flags: oxbow session list/],
  [["--json", "session", "list"], /--json.*Put the command before its flags: oxbow session/],
  [["@fast"], /Give a prompt/],
  [["resume", "abcd1234"], /Without a terminal, give one: oxbow --resume abcd1234 "PROMPT"/],
  [["--continue"], /oxbow --continue "PROMPT"/],
  [["/etc/hosts"], /oxbow run \/etc\/hosts/],
  [[""], /The prompt is empty/],
  [["/hlep"], /no command \/hlep. Did you mean \/help/],
  [["run", "/hlep me"], /Did you mean \/help/],
  [["/clear"], /\/clear works only in a conversation/],
  [["--modle", "x", "hi there"], /Did you mean --model/],
  [["session", "lst"], /'oxbow session list'/],
  [["session", "list", "word"], /takes no arguments/],
  [["permissions", "tset", "ls"], /'oxbow permissions test'/],
  [["config", "shwo"], /'oxbow config show'/],
  [["route", "ad", "x", "y"], /oxbow route add/],
  [["models", "tset"], /'oxbow models test'/],
  [["auth", "st"], /'oxbow auth set'/],
  [["ollama", "plul"], /Did you mean 'oxbow ollama pull'/],
  [["tools", "word"], /takes no arguments/],
  [["help", "sesion"], /'oxbow help session'/],
  [["help", "session", "lst"], /'oxbow session list'/],
];

describe("a mistyped command", () => {
  verifies(["U1"], "is never sent to a model: exit code 2 and a suggestion", async () => {
    const { mock, env } = await model();
    for (const [args, advice] of REFUSED) {
      const { code, stdout, stderr } = await oxbow(args, { env });
      const name = args.join(" ");
      expect(stderr, name).toMatch(advice);
      expect([code, stdout], name).toEqual([2, ""]);
    }
    expect(mock.requests.filter(({ path }) => path.includes("completions"))).toEqual([]);
  });

  verifies(["U1"], "a prompt of one word is sent when it is marked as one", async () => {
    const prompts = [["run", "login"], ["--", "login"], ["login please"], ["修复所有测试"], ["/etc/hosts: what is it"]];
    for (const args of prompts) {
      const { env } = await model();
      expect((await oxbow(args, { env })).stdout, args.join(" ")).toBe("sent\n");
    }
  });
});

describe("one command of the conversation", () => {
  verifies(["U1"], "runs without a model call and leaves no session", async () => {
    const { mock, env } = await model();
    const { stdout, code, home } = await oxbow(["/help"], { env });
    expect(stdout).toContain("/compact");
    expect(code).toBe(0);
    const why = await oxbow(["/why"], { env: { ...env, OXBOW_HOME: home } });
    expect(why.stderr).toContain('For the last one of this folder: oxbow run --continue "/why"');
    const json = await oxbow(["/cost", "--output-format", "json"], { env: { ...env, OXBOW_HOME: home } });
    expect(JSON.parse(json.stdout)).toMatchObject({ command: "/cost" });
    const sessions = await oxbow(["session", "list", "--all", "--json"], { env: { ...env, OXBOW_HOME: home } });
    expect(JSON.parse(sessions.stdout)).toEqual([]);
    expect(mock.requests.filter(({ path }) => path.includes("completions"))).toEqual([]);
  });
});

describe("oxbow help", () => {
  verifies(["U10"], "prints the help of a command and of its actions", async () => {
    const pages: readonly (readonly [readonly string[], RegExp])[] = [
      [["help", "run"], /Usage: oxbow run/],
      [["help", "session"], /Usage: oxbow session \[ACTION\]/],
      [["help", "session", "list"], /Usage: oxbow session list/],
      [["session", "help", "list"], /Usage: oxbow session list/],
      [["help", "auth", "set"], /Usage: oxbow auth set/],
      [["--help", "models"], /Usage: oxbow models/],
    ];
    for (const [args, expected] of pages) {
      const { stdout, code } = await oxbow(args);
      expect(stdout, args.join(" ")).toMatch(expected);
      expect(code, args.join(" ")).toBe(0);
    }
  });
});
