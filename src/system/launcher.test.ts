import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { times } from "../../test/support/thorough.js";
import { Launcher } from "./launcher.js";
import { Launchers } from "./launchers.js";
import {
  type Launch,
  type ProcessEnd,
  type ProcessRequest,
  runProcess,
  startProcess,
  withoutInherited,
} from "./process-group.js";

let base: string;
let cwd: string;
let launcher: Launcher;
const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", ODD: "it's \n $HOME `x`" };

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "launcher-")));
  cwd = join(base, "ws");
  mkdirSync(cwd);
  const started = await Launcher.start("/bin/bash", { cwd, env });
  if (started === undefined) throw new Error("There is no launcher.");
  launcher = started;
});
afterEach(() => {
  launcher.end();
  rmSync(base, { recursive: true });
});

function request(command: string, more: Partial<ProcessRequest> = {}): ProcessRequest {
  return { argv: ["/bin/bash", "-c", "--", command], cwd, env, onOutput() {}, ...more };
}

const launch: Launch = async (asked) => {
  const launched = launcher.canLaunch(asked) ? await launcher.launch(asked) : undefined;
  if (launched === undefined) throw new Error("not started");
  return launched;
};

async function run(command: string, more: Partial<ProcessRequest> = {}, way: Launch | undefined = launch) {
  let output = "";
  const end: ProcessEnd = await runProcess(request(command, { onOutput: (chunk) => (output += chunk), ...more }), way);
  return { ...end, output };
}

describe.skipIf(process.platform !== "linux")("[T6] a launcher", () => {
  it("starts a command as this process would", async () => {
    const command = [
      'echo "$0 $# $SHLVL $PWD $ODD"; env | grep -vE "^(OXBOW_CALL|_)=" | sort',
      "cat; ls -l /proc/self/fd | wc -l; umask; trap; ulimit -a",
      "read answer </dev/tty; ps -o stat= -p $$; [ $(ps -o pgid= -p $$) = $$ ] && echo own group",
      "exit 7",
    ].join("\n");
    const direct = await run(command, {}, undefined);
    const launched = await run(command);
    // Who leads a session is the one thing that differs.
    const same = (text: string) => text.replace(/^S\w*$/m, "S");
    expect(same(launched.output)).toBe(same(direct.output));
    expect(launched.output).toContain("own group");
    expect(launched).toMatchObject({ reason: "exit", exitCode: 7, leftovers: 0 });
  });

  it("hands on words of any kind, and open files", async () => {
    const file = join(base, "text");
    writeFileSync(file, "from a file\n");
    const words = ["it's", 'a "b"', "line\nline", "$(touch x) `y`", "ü 漢 🌊", "", "-n", "x0", "p1"];
    const { output } = await run("", {
      argv: ["/bin/bash", "-c", 'cat <&3; printf "<%s>" "$@"', "sh", ...words],
      descriptors: [openSync(file, "r")],
    });
    expect(output).toBe(`from a file\n${words.map((word) => `<${word}>`).join("")}`);
  });

  it("keeps from a command what this process was left by others", async () => {
    // Stands for a file that was open before: Node gives its own files to nobody.
    const opened = `exec 251</dev/null; exec "$0" "$@"`;
    const withheld = { descriptors: [251], bash: "/bin/bash" };
    const argv = ["/bin/bash", "-c", "ls /proc/self/fd"];
    expect((await run("", { argv: ["/bin/bash", "-c", opened, ...argv] })).output).toContain("251");
    const kept = await run("", { argv: ["/bin/bash", "-c", opened, ...withoutInherited({ argv, withheld })] });
    expect(kept.output).not.toContain("251");
    expect((await run("ls /proc/self/fd", { withheld })).output).toBe(
      (await run("ls /proc/self/fd", { withheld }, undefined)).output,
    );
  });

  it("tells an exit code from a signal with the same number", async () => {
    for (let round = 0; round < times(5, 50); round++) {
      expect(await run("exit 137")).toMatchObject({ exitCode: 137, signal: undefined });
      expect(await run("kill -KILL $$")).toMatchObject({ exitCode: undefined, signal: "SIGKILL" });
    }
  });

  it("does not take a command that was stopped for one that has ended", async () => {
    const { output } = await run("(sleep 0.05; kill -CONT $$) & kill -STOP $$; wait; echo went on");
    expect(output).toBe("went on\n");
  });

  it("starts only what belongs where it is itself", async () => {
    expect(launcher.canLaunch(request("true"))).toBe(true);
    expect(launcher.canLaunch(request("true", { cwd: base }))).toBe(false);
    expect(launcher.canLaunch(request("true", { env: { ...env, MORE: "1" } }))).toBe(false);
    expect(launcher.canLaunch(request("true", { env: { ...env, ODD: "" } }))).toBe(false);
    expect(launcher.canLaunch(request("true", { input: "x" }))).toBe(false);
    renameSync(cwd, join(base, "old"));
    mkdirSync(cwd);
    expect(launcher.canLaunch(request("true"))).toBe(false);
  });

  it("starts one command at a time, and the next when nothing is left of it", async () => {
    const first = await startProcess(request("sleep 1000 & exec sleep 1000"), launch);
    expect(launcher.canLaunch(request("true"))).toBe(false);
    await first.stop();
    expect((await run("echo next")).output).toBe("next\n");
  });

  it("that is killed takes its command along", async () => {
    const started = await startProcess(request("sleep 1000"), launch);
    process.kill(launcher.pid, "SIGKILL");
    expect(await started.ended).toMatchObject({ reason: "exit", signal: "SIGKILL", leftovers: 1, survivors: 0 });
    expect(launcher.canLaunch(request("true"))).toBe(false);
  });

  it("that was killed before says that nothing was started", async () => {
    const asked = request("touch ran");
    process.kill(launcher.pid, "SIGKILL");
    expect(await launcher.launch(asked)).toBe(undefined);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("that cannot be started is done without", async () => {
    const launchers = new Launchers(join(base, "no-such-bash"));
    for (let round = 0; round < 3; round++) {
      expect((await run("echo direct", {}, launchers.launch)).output).toBe("direct\n");
      await new Promise((resolve) => setImmediate(resolve));
    }
    launchers.rest();
    const elsewhere = new Launchers("/bin/bash");
    const file = join(base, "file");
    writeFileSync(file, "");
    await expect(run("true", { cwd: file }, elsewhere.launch)).rejects.toThrow();
    elsewhere.rest();
  });
});
