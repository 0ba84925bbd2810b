import { describe, expect, it } from "vitest";
import { verifies } from "../../../../test/verifies.js";
import type { CommandInfo } from "../../../protocol/queries.js";
import { commandCompletion } from "./command-completion.js";
import type { Suggestions } from "./completion.js";

const command = (name: string, more: Partial<CommandInfo> = {}): CommandInfo => {
  const usual = { aliases: [], arguments: [], for_people: true, by_client: false, during_turn: true };
  return { name, usage: `/${name}`, summary: `does ${name}`, ...usual, ...more };
};

const COMMANDS: readonly CommandInfo[] = [
  command("cost"),
  command("compact"),
  command("exit", { aliases: ["quit", "q"] }),
  command("model", { arguments: [{ name: "NAME", optional: true, source: "model" }] }),
  command("mode", { arguments: [{ name: "MODE", choices: ["ask", "auto", "plan"] }] }),
  command("route:list", { aliases: ["route"] }),
  command("route:add", { arguments: [{ name: "NAME" }, { name: "MODEL", rest: true, source: "model" }] }),
  command("skills:gofastr-ui"),
  command("skills:gofastr-cli"),
  command("skills:verify"),
  command("debug:raw", { arguments: [{ name: "STATE", optional: true, choices: ["on", "off"] }] }),
];

const completion = commandCompletion({
  commands: () => COMMANDS,
  values: (source) => (source === "model" ? [{ value: "gpt-5" }, { value: "claude-sonnet", about: "200k" }] : []),
});

async function at(line: string): Promise<Suggestions | undefined> {
  return completion.suggest({ line, column: line.length, isFirstLine: true });
}

const values = async (line: string) => (await at(line))?.items.map(({ value }) => value);

describe("names", () => {
  verifies(["U6"], "the tab contract: / lists the top, /sk continues to the namespace, then to one of it", async () => {
    // In the order of the engine.
    expect(await values("/")).toEqual([
      "/cost",
      "/compact",
      "/exit",
      "/model",
      "/mode",
      "/route:",
      "/skills:",
      "/debug:raw",
    ]);
    expect((await values("/sk"))?.[0]).toBe("/skills:");
    expect(await values("/skills:gofa")).toEqual(["/skills:gofastr-ui", "/skills:gofastr-cli"]);
    expect(await values("/skills:ver")).toEqual(["/skills:verify"]);
    expect(await values("/skills:")).toEqual(["/skills:gofastr-cli", "/skills:gofastr-ui", "/skills:verify"]);
  });

  it("offers the command of a namespace that has no other, once", async () => {
    expect(await values("/debug")).toEqual(["/debug:raw"]);
    expect(await values("/debug:")).toEqual(["/debug:raw"]);
  });

  it("finds by a part of the name, and by an alias", async () => {
    expect(await values("/add")).toEqual(["/route:add"]);
    expect((await values("/cmp"))?.[0]).toBe("/compact");
    expect((await values("/qu"))?.[0]).toBe("/exit");
    expect(await values("/nothing-like-it")).toEqual([]);
  });

  it("knows what needs no completion, and what Enter does", async () => {
    expect((await at("/q"))?.complete).toBe(true);
    expect((await at("/mode"))?.items.map(({ value, next }) => [value, next])).toEqual([
      ["/mode", "stay"],
      ["/model", "send"],
    ]);
    expect((await at("/sk"))?.items[0]?.next).toBe("more");
  });

  it("leaves paths and later lines alone", async () => {
    expect(await at("/usr/bin")).toBeUndefined();
    expect(await at("see /mo")).toBeUndefined();
    expect(completion.suggest({ line: "/mo", column: 3, isFirstLine: false })).toBeUndefined();
  });
});

describe("arguments", () => {
  it("completes models, choices and the actions of a namespace", async () => {
    expect(await values("/model cl")).toEqual(["claude-sonnet"]);
    expect(await values("/mode ")).toEqual(["ask", "auto", "plan"]);
    expect(await values("/route ")).toEqual(["list", "add"]);
    expect(await values("/route add fast g")).toEqual(["gpt-5"]);
    expect(await values("/route:add fast gpt-5 cl")).toEqual(["claude-sonnet"]);
    expect(await values("/route add f")).toEqual([]);
  });

  it("says how the command is used", async () => {
    expect((await at("/model "))?.usage).toBe("/model: does model");
    expect((await at("/route add x"))?.usage).toBe("/route:add: does route:add");
  });
});
