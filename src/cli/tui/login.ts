/** The sign-in of `oxbow auth set` for the terminal client, as a separate program: it asks on the terminal and reads keys. */
import { spawn } from "node:child_process";
import type { Login } from "../../clients/tui/effects/login.js";
import type { TuiTerminal } from "../../clients/tui/terminal/terminal.js";

export function terminalLogin(terminal: TuiTerminal): Login {
  return {
    async providers() {
      const [{ OAUTH_PROVIDERS }, { NAMED_PROVIDERS }] = await Promise.all([
        import("../../security/oauth/providers.js"),
        import("../../providers/named.js"),
      ]);
      const signIns = new Set<string>(OAUTH_PROVIDERS.map(({ name }) => name));
      const keys = NAMED_PROVIDERS.filter(({ name, keyName }) => keyName !== undefined && !signIns.has(name));
      return [
        ...OAUTH_PROVIDERS.map(({ name }) => ({ name, needs: "sign in with an account" })),
        ...keys.map(({ name }) => ({ name, needs: "key" })),
      ];
    },
    run: (provider) => terminal.lend(() => runSignIn(provider)),
  };
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
