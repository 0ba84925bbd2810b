import { describe, expect } from "vitest";
import { verifies } from "../../../test/verifies.js";
import { terminalLogin } from "../tui/login.js";
import { loginByLine } from "./line-login.js";

describe("the sign-in of the line client", () => {
  verifies(["U2", "M15"], "lists what each provider needs, and asks nothing for a server without keys", async () => {
    const { providers } = terminalLogin({ lend: (work) => work() });
    const run = async (provider: string) => provider === "openai";
    const said = async (provider: string) => {
      const lines: string[] = [];
      await loginByLine({ providers, run }, provider, (text) => lines.push(text));
      return lines;
    };
    const list = await said("");
    expect(list).toContain("anthropic         key");
    expect(list).toContain("llamacpp          on this machine: a key only if the server was started with one");
    expect(list.at(-1)).toBe("Sign in: /login PROVIDER");
    expect(await said("ollama")).toEqual([
      "ollama needs no sign-in: start it on this machine, then /model lists its models.",
    ]);
    expect(await said("openai")).toEqual(["openai is connected. /model lists its models."]);
    expect(await said("gemini")).toEqual(["Not signed in to gemini. Nothing was changed."]);
  });

  verifies(["M15"], "lends the terminal to the sign-in", async () => {
    class Lender {
      #lent = 0;
      async lend<T>(_work: () => Promise<T>): Promise<T> {
        this.#lent += 1;
        return true as T;
      }
      get lent(): number {
        return this.#lent;
      }
    }
    const lender = new Lender();
    expect(await terminalLogin(lender).run("openai")).toBe(true);
    expect(lender.lent).toBe(1);
  });
});
