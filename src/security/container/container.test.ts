/** The words, and what becomes of them with an engine that is a script: it notes how it was called, and runs the command itself. */

import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../test/support/waiting.js";
import { PATH, SandboxTestbed } from "../sandbox/sandbox-testbed.js";
import { command, layout, policy } from "../sandbox/test-support/sample-layout.js";
import { containerCommand } from "./container.js";

describe("[P8] the command line for a container", () => {
  const parts = {
    program: "/usr/bin/podman",
    image: "work:1",
    name: "oxbow-1",
    policy,
    layout,
    blank: "/state/blank",
    user: { uid: 1000, gid: 1000 },
    hard: { processes: 4096, openFiles: 20_000 },
    engine: { DOCKER_HOST: "unix:///engine" },
  };

  it("cuts the network, drops rights and mounts the workspace with its guards", () => {
    const { args, cleanUp, env } = containerCommand(parts, command);
    const line = args.join(" ");
    for (const part of [
      "--network none",
      "--read-only",
      "--cap-drop ALL",
      "--security-opt no-new-privileges",
      "--user 1000:1000",
      "--pids-limit 9",
      "--memory 1024",
      "--ulimit nofile=5",
    ]) {
      expect(line).toContain(part);
    }
    expect(args).toContain("type=bind,source=/home/me/my project,target=/home/me/my project");
    expect(args).toContain(
      "type=bind,source=/home/me/my project/.git/hooks,target=/home/me/my project/.git/hooks,readonly",
    );
    expect(args.slice(-6)).toEqual(["--entrypoint", "bash", "work:1", "-c", "--", "make"]);
    expect(line).toContain("--env SETTING");
    expect(line).not.toContain("value");
    expect(line).not.toContain("--env PATH");
    expect(env).toEqual({ ...command.env, DOCKER_HOST: "unix:///engine" });
    expect(line).not.toContain("DOCKER_HOST");
    expect(cleanUp).toEqual(["/usr/bin/podman", "rm", "--force", "oxbow-1"]);
  });

  it("keeps a person's number, in the way of each engine", () => {
    const words = (changes: object) => containerCommand({ ...parts, ...changes }, command).args.join(" ");
    expect(words({})).toContain("--userns keep-id");
    expect(words({ user: { uid: 0, gid: 0 } })).not.toContain("--userns");
    expect(words({ program: "/usr/bin/docker" })).not.toContain("--userns");
    expect(containerCommand(parts, { ...command, isOnTerminal: true }).args.join(" ")).toContain(
      "run --rm -i --network none --read-only --cap-drop ALL --pull never -t",
    );
  });

  it("names the limits that Podman would raise", () => {
    const words = (changes: object) => containerCommand({ ...parts, ...changes }, command).args.join(" ");
    expect(words({})).toContain("--ulimit nproc=4096");
    expect(words({ hard: { openFiles: 3 } })).toContain("--ulimit nofile=3");
    expect(words({ policy: { ...policy, limits: {} } })).toContain("--ulimit nofile=20000");
    expect(words({ hard: {} })).not.toContain("nproc");
    expect(words({ program: "/usr/bin/docker" })).not.toContain("nproc");
  });

  it("quotes paths with commas", () => {
    const odd = { ...layout, writable: ["/a,b"] };
    expect(containerCommand({ ...parts, layout: odd }, command).args).toContain(
      'type=bind,"source=/a,b","target=/a,b"',
    );
  });

  it("has no list of hosts", () => {
    const open = { ...policy, network: { allow: ["example.com"] } };
    expect(() => containerCommand({ ...parts, policy: open }, command)).toThrow(/no network at all/);
  });
});

describe("[P8] commands in a container", () => {
  let bed: SandboxTestbed;
  beforeEach(() => {
    bed = new SandboxTestbed();
    mkdirSync(bed.path(".git/hooks"), { recursive: true });
    mkdirSync(bed.path(".git/objects"));
    for (const name of ["HEAD", "config"]) bed.write(bed.path(`.git/${name}`), "");
  });
  afterEach(() => bed.close());

  /** `run` becomes the command, so that it can be signalled as a client that hands signals on; `rm` ends what is left of it. */
  const ENGINE = `#!/bin/bash
log=\${0%/*}/log
printf '%s\\0' "$@" >>"$log"; echo >>"$log"
case $1 in
  image) exit 0 ;;
  rm) echo "$3" >"\${0%/*}/removed" ;;
  run)
    while [ "$1" != --entrypoint ]; do shift; done
    shift; program=$1; shift 2
    echo $$ >"\${0%/*}/started"
    exec "$program" "$@" ;;
esac
`;
  const open = () => {
    const folder = join(bed.outside, "engine");
    const engine = bed.write(join(folder, "docker"), ENGINE);
    chmodSync(engine, 0o755);
    const calls = () =>
      readFileSync(join(folder, "log"), "utf8")
        .split("\n")
        .map((line) => line.split("\0").slice(0, -1));
    const sandbox = bed.sandbox({
      sandbox: { path: `${folder}:${PATH}`, overrides: { kind: "container", container: { image: "work:1" } } },
    });
    const wrap = (script: string) =>
      sandbox.wrap({ program: "/bin/bash", args: ["-c", "--", script], cwd: bed.workspace, env: { PATH } });
    return { folder, calls, wrap };
  };

  it("are run with the workspace and its guards, and removed when they have ended", async () => {
    const { folder, calls, wrap } = open();
    mkdirSync(bed.path(".oxbow"));
    const wrapped = await wrap("echo 'it ran'");
    expect(wrapped).toMatchObject({ sandboxed: true, isWrapper: false, endsWithAll: false });
    expect(await bed.run(wrapped)).toMatchObject({ code: 0, output: "it ran" });
    await wrapped.ended();
    const [inspected, ran, removed] = calls();
    expect(inspected?.slice(0, 2)).toEqual(["image", "inspect"]);
    const mounts = ran?.filter((_, at) => ran[at - 1] === "--mount") ?? [];
    const at = (name: string) => `type=bind,source=${bed.path(name)},target=${bed.path(name)}`;
    expect(mounts[0]).toBe(`type=bind,source=${bed.workspace},target=${bed.workspace}`);
    expect(mounts).toEqual(
      expect.arrayContaining([".git/hooks", ".git/config", ".oxbow"].map((name) => `${at(name)},readonly`)),
    );
    const name = ran?.[ran.indexOf("--name") + 1];
    expect(removed).toEqual(["rm", "--force", name]);
    expect(readFileSync(join(folder, "removed"), "utf8").trim()).toBe(name);
  });

  it("are asked to end, and removed also when the engine's program had to be killed", async () => {
    const { folder, wrap } = open();
    const wrapped = await wrap("trap 'echo asked >asked' TERM; echo up >up; while :; do sleep 0.02; done");
    const started = await bed.start(wrapped);
    await until(() => existsSync(bed.path("up")));
    const end = await started.stop();
    expect(end.reason).toBe("cancelled");
    expect(existsSync(bed.path("asked"))).toBe(true);
    await wrapped.ended();
    expect(existsSync(join(folder, "removed"))).toBe(true);
  });
});
