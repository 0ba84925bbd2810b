/** The sign-in of `oxbow auth set` for the terminal client, as a separate program: it asks on the terminal and reads keys. */
import { spawn } from "node:child_process";
import type { Login, SignIn } from "../../clients/tui/effects/login.js";
import type { TuiTerminal } from "../../clients/tui/terminal/terminal.js";
import type { NamedProvider } from "../../providers/named.js";

/** The terminal is lent to the sign-in while it runs. */
export function terminalLogin(terminal: Pick<TuiTerminal, "lend">): Login {
  return {
    async providers() {
      const [{ OAUTH_PROVIDERS }, { NAMED_PROVIDERS }] = await Promise.all([
        import("../../security/oauth/providers.js"),
        import("../../providers/named.js"),
      ]);
      const signIns = new Set<string>(OAUTH_PROVIDERS.map(({ name }) => name));
      const others = NAMED_PROVIDERS.filter(({ name }) => !signIns.has(name));
      return [
        ...OAUTH_PROVIDERS.map(({ name }) => ({ name, needs: "sign in with an account" })),
        ...others.map((provider) => ({ name: provider.name, ...needsOf(provider) })),
      ];
    },
    run: (provider) => terminal.lend(() => runSignIn(provider)),
  };
}

/** A server on this machine needs nothing, or a key only if it was started with one. */
function needsOf({ name, keyName, local }: NamedProvider): Omit<SignIn, "name"> {
  if (local !== true) return { needs: "key" };
  if (keyName !== undefined) return { needs: "on this machine: a key only if the server was started with one" };
  const advice = `${name} needs no sign-in: start it on this machine, then /model lists its models.`;
  return { needs: "on this machine: no sign-in", advice };
}

function runSignIn(provider: string): Promise<boolean> {
  const program = process.argv[1];
  if (program === undefined) return Promise.reject(new Error("To sign in, leave and run: oxbow auth set PROVIDER"));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, "auth", "set", "--", provider], { stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code) => resolve(code === 0));
  });
}
