import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { unless, whyNot } from "../../test/support/needs.js";
import { runProcess } from "./process-group.js";
import { SpawnError } from "./process-launch.js";
import { findTerminal, type TerminalPackageLoader } from "./pseudo-terminal.js";

const PACKAGE: string = "@lydell/node-pty";
const missing: TerminalPackageLoader = () => Promise.reject(new Error("not installed"));
const installed = await import(PACKAGE).then(
  () => true,
  () => false,
);

async function run(load: TerminalPackageLoader | undefined, command: string) {
  const chunks: Buffer[] = [];
  const launch = await findTerminal(load);
  if (launch === undefined) throw new Error("no terminal");
  const end = await runProcess(
    {
      argv: ["/bin/bash", "-c", "--", command],
      cwd: tmpdir(),
      env: { PATH: process.env.PATH ?? "/usr/bin:/bin", SHELL: "/bin/some shell", TERM: "xterm" },
      timeoutMs: 20_000,
      onOutput: (chunk) => chunks.push(chunk),
    },
    launch,
  );
  return { ...end, output: Buffer.concat(chunks).toString().replaceAll("\r\n", "\n").replaceAll("^D\b\b", "") };
}

describe.each([
  ["script", missing, whyNot("linux", "script")],
  ["the package", undefined, installed ? undefined : `needs ${PACKAGE}: npm ci`],
] as const)("a terminal by %s", (_name, load, unavailable) => {
  unless(unavailable).it("is one for the command", async () => {
    const end = await run(load, `[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && echo "it's $SHELL $TERM"; exit 5`);
    expect(end).toMatchObject({ reason: "exit", exitCode: 5, output: "40 120\nit's /bin/some shell xterm\n" });
  });

  unless(unavailable).it("does not wait for an answer", async () => {
    expect(await run(load, "read -p 'name? ' x; echo $?")).toMatchObject({ reason: "exit", output: "name? 1\n" });
  });

  unless(unavailable ?? whyNot("setsid")).it("leaves nothing running", async () => {
    const end = await run(load, "trap '' HUP; (trap '' HUP TERM; exec setsid sleep 1000) & sleep 0.05; echo up");
    expect(end).toMatchObject({ reason: "exit", output: "up\n", survivors: 0 });
  });
});

it("turns a failure of the package into one of the start", async () => {
  const launch = await findTerminal(async () => ({
    spawn() {
      throw new Error("no more terminals");
    },
  }));
  const request = { argv: ["/bin/true"], cwd: "/", env: {}, onOutput() {} };
  await expect(runProcess(request, launch)).rejects.toThrow(SpawnError);
});
