/** Each test tries to get out of a real sandbox, and shows that the same attempt succeeds without one: for both makers of it. */

import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Maker, PATH, SandboxTestbed } from "../../src/security/sandbox/sandbox-testbed.js";
import { SessionSpace } from "../../src/security/sandbox/session-space.js";
import { startProcess } from "../../src/system/process-group.js";
import { findTerminal } from "../../src/system/pseudo-terminal.js";
import { needs } from "./needs.js";
import { until } from "./waiting.js";

export function escapeTests(maker: Maker): void {
  /** Without bubblewrap there is no system-call filter. */
  const hasFilter = maker === "sandbox";
  const isRoot = process.getuid?.() === 0;

  let bed: SandboxTestbed;
  const servers: { close(): unknown }[] = [];
  const children: ChildProcess[] = [];

  beforeEach(() => {
    bed = new SandboxTestbed(maker);
  });

  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    for (const child of children.splice(0)) child.kill("SIGKILL");
    await bed.close();
  });

  /** A process outside, which the sandbox must not reach. */
  function bystander(env: Record<string, string> = {}): number {
    const child = spawn("/bin/sleep", ["60"], { stdio: "ignore", env });
    children.push(child);
    if (child.pid === undefined) throw new Error("sleep could not be started");
    return child.pid;
  }

  function listen(place: { path: string } | { host: string; port: number }): Promise<Server> {
    const server = createServer((socket) => socket.end("hello from outside\n").on("error", () => {}));
    servers.push(server);
    return new Promise((resolve, reject) => server.once("error", reject).listen(place, () => resolve(server)));
  }

  function portOf(server: Server): number {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    return address.port;
  }

  const connectWith = (target: string) =>
    `node -e 'require("node:net").connect(${target}).on("data", (d) => process.stdout.write(d)).on("error", (e) => { console.log(e.code); process.exit(1); })'`;

  needs(maker).describe("[P8] writing outside the workspace", () => {
    const attempts: [what: string, script: string][] = [
      ["directly", "echo x >$OUT/new"],
      ["through a symbolic link", "ln -s $OUT link; echo x >link/new"],
      ["through /proc/self/root", "echo x >/proc/self/root$OUT/new"],
      ["through the root of another process", "sleep 5 & echo x >/proc/$!/root$OUT/new"],
      ["through a folder that is held open", "cd $OUT && echo x >new"],
      ["by a rename", "echo x >new && mv -T new $OUT/new"],
      ["with another program", 'perl -e \'open(F, ">", shift) or die $!; print F "x"\' $OUT/new'],
    ];
    it.each(attempts)("%s", async (_, script) => {
      const options = { env: { OUT: bed.outside } };
      const inside = await bed.inside(script, options);
      expect(inside.code).not.toBe(0);
      expect(existsSync(join(bed.outside, "new"))).toBe(false);
      await bed.unprotected(`rm -f link new; ${script}`, options);
      expect(readFileSync(join(bed.outside, "new"), "utf8").trim()).toBe("x");
    });

    it("to a guarded file, through a hard link that the person made to it", async () => {
      await bed.unprotected(
        "git init -q . && printf 'old\\n' >.git/hooks/post-checkout && ln .git/hooks/post-checkout notes",
      );
      const script =
        "echo evil >notes; echo evil >>notes; rm -f notes; mv -f notes other; ln notes more && echo evil >more";
      const space = new SessionSpace();
      await bed.inside(script, { writes: "held", sandbox: { space } });
      await space.close();
      const hook = join(bed.workspace, ".git/hooks/post-checkout");
      expect(readFileSync(hook, "utf8")).toBe("old\n");
      await bed.unprotected("echo evil >notes");
      expect(readFileSync(hook, "utf8")).toBe("evil\n");
    });

    it("through a hard link", async () => {
      const victim = bed.write("/var/tmp/sandbox-victim-".concat(String(process.pid)), "old");
      const script = `ln ${victim} here && echo new >here`;
      expect((await bed.inside(script)).code).not.toBe(0);
      expect(readFileSync(victim, "utf8")).toBe("old");
      // Here the workspace is on the same disk as its victim.
      await bed.unprotected(`cd ${bed.outside} && ln ${victim} here && echo new >here; rm -f ${victim}`);
      expect(readFileSync(join(bed.outside, "here"), "utf8")).toBe("new\n");
    });

    it("by mode or time of a file", async () => {
      const victim = bed.write(join(bed.outside, "file"), "x");
      const before = statSync(victim);
      const script = `touch -d 2001-01-01 ${victim} || chmod 777 ${victim}`;
      expect((await bed.inside(script)).code).not.toBe(0);
      expect(statSync(victim)).toMatchObject({ mtimeMs: before.mtimeMs, mode: before.mode });
      await bed.unprotected(script);
      expect(statSync(victim).mtimeMs).not.toBe(before.mtimeMs);
    });

    it("leaves the workspace and /tmp writable, and removes its /tmp", async () => {
      const name = `sandbox-probe-${process.pid}`;
      const ran = await bed.inside(`echo a >here && echo b >/tmp/${name} && cat here /tmp/${name} && ls -A "$TMPDIR"`);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.output).toContain("a\nb\n");
      expect(existsSync(`/tmp/${name}`)).toBe(false);
      expect(readFileSync(bed.path("here"), "utf8")).toBe("a\n");
      expect(readdirSync(bed.workspace)).toEqual(["here"]);
    });

    needs("root").it("by making the mounts writable again, which works where capabilities are kept", async () => {
      const script = `mount -o remount,bind,rw / && echo x >${bed.outside}/new`;
      const inside = await bed.inside(script);
      expect(inside.code).not.toBe(0);
      expect(inside.hint).toMatch(/does not allow this system call/);
      // With util-linux other mounts than these words would have to change.
      if (hasFilter) {
        const wrapped = await bed.wrap(script);
        const weaker = wrapped.args.filter((word) => !["--cap-drop", "ALL", "--seccomp", "3"].includes(word));
        expect((await bed.run({ ...wrapped, args: weaker })).code).toBe(0);
        await wrapped.ended();
        expect(existsSync(join(bed.outside, "new"))).toBe(true);
      }
    });

    needs("root").it("by making a device", async () => {
      const script = "mknod disk b 254 0";
      expect((await bed.inside(script)).code).not.toBe(0);
      expect((await bed.unprotected(script)).code).toBe(0);
    });

    // The gate leaves such files out of the workspace.
    if (hasFilter)
      it("by a program that other users would run with this one's rights", async () => {
        const script =
          "cp /bin/true tool; cp tool group; chmod u+s tool; chmod g+s group; " +
          "perl -MFcntl -e 'sysopen(F, \"made\", O_CREAT | O_WRONLY, 04755)'";
        const mode = (name: string) => (existsSync(bed.path(name)) ? statSync(bed.path(name)).mode & 0o6000 : 0);
        expect((await bed.inside(script)).output).toContain("Operation not permitted");
        expect([mode("tool"), mode("group"), mode("made")]).toEqual([0, 0, 0]);
        await bed.unprotected(script);
        expect([mode("tool"), mode("group"), mode("made")]).toEqual([0o4000, 0o2000, 0o4000]);
      });

    it("through another user namespace", async () => {
      const script = "unshare --user --map-root-user --mount true";
      const inside = await bed.inside(script);
      expect(inside.code).not.toBe(0);
      expect(inside.output).toMatch(hasFilter ? /not permitted/i : /No space left/);
      expect((await bed.unprotected(script)).code).toBe(0);
    });

    it("by settings of the kernel", async () => {
      // Opening them to write is enough. All tests of the machine share them, so nothing is written.
      const script = "cd /proc/sys/kernel; for name in core_pattern hostname; do : >$name || exit 1; done";
      expect(await bed.inside(script)).toMatchObject({
        code: 1,
        output: expect.stringMatching(/core_pattern: Read-only file system/),
      });
      if (!isRoot) return;
      const possible = { code: 0, output: "" };
      expect(await bed.unprotected(script)).toMatchObject(possible);
      const change = (words: readonly string[]) =>
        words.filter((word, at) => word !== "--remount-ro" && words[at - 1] !== "--remount-ro");
      expect(await bed.inside(script, { change })).toMatchObject(possible);
    });
  });

  needs(maker).describe("[P18] writing into a view", () => {
    it("changes nothing in the workspace, and can be read when the command has ended", async () => {
      const space = new SessionSpace();
      bed.write(bed.path("old"), "old");
      bed.write(bed.path(".env"), "A=not-for-you");
      const within = bed.sandbox({ sandbox: { space }, policy: { secrets: "masked" } });
      expect(await within.whyNotHeld()).toBeUndefined();
      const script = "echo new >new; rm old; mkdir -p d; ln -s /etc d/out; ls -A; cat .env; umount . 2>&1";
      const wrapped = await bed.wrap(script, { within, writes: "held" });
      const { output } = await bed.run(wrapped);
      expect(output).not.toContain("not-for-you");
      expect(output.split("\n").slice(0, 2)).toEqual(["d", "new"]);
      expect(readdirSync(bed.workspace).sort()).toEqual([".env", "old"]);
      const changes = (await wrapped.view?.read(undefined))?.flatMap((set) => set.changes) ?? [];
      expect(changes.map(({ path, after }) => `${after === undefined ? "-" : "+"}${path}`).sort()).toEqual([
        "+d",
        "+d/out",
        "+new",
        "-old",
      ]);
      await wrapped.ended();
      await space.close();
    });
  });

  needs(maker).describe("[P8] reading hidden files", () => {
    it("hides folders and files, also behind links", async () => {
      const key = bed.write(join(bed.outside, "keys", "id"), "private");
      const file = bed.write(join(bed.outside, "netrc"), "login");
      symlinkSync(join(bed.outside, "keys"), join(bed.outside, "link-to-keys"));
      const policy = { hidden: [bed.state, join(bed.outside, "link-to-keys"), file] };
      const script = `cat ${key}; ls ${bed.outside}/keys; cat ${file} ${bed.outside}/link-to-keys/id; cp ${file} copy; cat copy; cat ${bed.state}/*`;
      const inside = await bed.inside(script, { policy });
      expect(inside.output).not.toMatch(/private|login/);
      expect(inside.output).toContain("Permission denied");
      expect(inside.hint).toContain("The sandbox hides");
      expect((await bed.unprotected(script)).output).toMatch(/private[\s\S]*login/);
    });

    it("does not let them be replaced or written to", async () => {
      const file = bed.write(bed.path("home/.netrc"), "login");
      bed.write(bed.path("home/.ssh/config"), "Host x");
      const policy = { hidden: [file, bed.path("home/.ssh")] };
      const script =
        "echo a >home/.netrc; rm -rf home/.netrc home/.ssh; mv home/.ssh away; echo b >home/.ssh/config; ls -A home";
      expect((await bed.inside(script, { policy })).output).toMatch(/\.netrc\n\.ssh$/);
      expect(readFileSync(file, "utf8")).toBe("login");
      expect(readFileSync(bed.path("home/.ssh/config"), "utf8")).toBe("Host x");
    });

    it("keeps visible what a hidden folder holds for the command", async () => {
      bed.write(join(bed.state, "output", "run.log"), "the whole output");
      bed.write(join(bed.state, "sessions.db"), "everything");
      const policy = { hidden: [bed.state], visible: [join(bed.state, "output")] };
      const ran = await bed.inside(`cat ${bed.state}/output/run.log; cat ${bed.state}/sessions.db; ls ${bed.state}`, {
        policy,
      });
      expect(ran.output).toContain("the whole output");
      expect(ran.output).not.toContain("everything");
    });

    it("works in a workspace inside a hidden folder", async () => {
      const inner = join(bed.state, "worktrees", "one");
      mkdirSync(inner, { recursive: true });
      bed.write(join(bed.state, "sessions.db"), "everything");
      const sandbox = bed.sandbox({ policy: { writable: [inner], hidden: [bed.state] } });
      const command = {
        program: "/bin/sh",
        args: ["-c", `echo x >file; cat ${bed.state}/sessions.db`],
        cwd: inner,
        env: { PATH },
      };
      const wrapped = await sandbox.wrap(command);
      expect((await bed.run(wrapped)).output).not.toContain("everything");
      await wrapped.ended();
      expect(readFileSync(join(inner, "file"), "utf8")).toBe("x\n");
    });
  });

  needs(maker).describe("[T7] a key in the environment", () => {
    it("is not seen in the environment, in /proc, or on a command line", async () => {
      const secret = ["key", process.pid, "of", "a", "provider"].join("-");
      const pid = bystander({ SOME_SETTING: secret });
      const script = `env; cat /proc/*/environ /proc/*/cmdline /proc/${pid}/environ 2>/dev/null | tr '\\0' '\\n'`;
      expect((await bed.inside(script)).output).not.toContain(secret);
      expect((await bed.unprotected(script)).output).toContain(secret);
    });

    it("hands on the environment as given, and never on the command line", async () => {
      const value = `value-${process.pid}`;
      const wrapped = await bed.wrap('echo "$GIVEN"; cat /proc/1/cmdline', { env: { GIVEN: value } });
      expect(wrapped.args.join(" ")).not.toContain(value);
      const ran = await bed.run(wrapped);
      await wrapped.ended();
      expect(ran.output.split("\n")[0]).toBe(value);
    });
  });

  needs(maker).describe("[P8] other processes", () => {
    it("are not seen, signalled or traced", async () => {
      const pid = bystander();
      const attach = process.arch === "x64" ? 101 : 117;
      const script = `ls /proc | grep -x ${pid}; perl -e 'syscall(${attach}, 16, ${pid}, 0, 0) == 0 and print "traced"'; kill -9 ${pid} && echo killed`;
      expect((await bed.inside(script)).output).not.toMatch(new RegExp(`^${pid}$|traced|killed$`, "m"));
      expect(() => process.kill(pid, 0)).not.toThrow();
      expect((await bed.unprotected(script)).output).toMatch(new RegExp(`^${pid}\\ntracedkilled$`));
    });

    it("cannot be reached through a socket in the file system", async () => {
      const path = join(bed.outside, "engine.sock");
      await listen({ path });
      const script = connectWith(JSON.stringify({ path }));
      expect((await bed.inside(script)).output).not.toContain("hello");
      expect((await bed.unprotected(script)).output).toBe("hello from outside");
    });

    it("cannot be reached through an abstract socket", async () => {
      const name = `sandbox-${process.pid}`;
      await listen({ path: `\0${name}` });
      const script = connectWith(`{ path: String.fromCharCode(0) + "${name}" }`);
      expect((await bed.inside(script)).output).toBe(hasFilter ? "EAFNOSUPPORT" : "ECONNREFUSED");
      expect((await bed.inside(script, { policy: { unixSockets: "on" } })).output).toBe("ECONNREFUSED");
      expect((await bed.unprotected(script)).output).toBe("hello from outside");
    });

    it("get no keystrokes pushed into their terminal", async () => {
      const launch = await findTerminal();
      if (launch === undefined) throw new Error("no terminal: install util-linux");
      const script = `perl -e '$key = "x"; print ioctl(STDIN, 0x5412, $key) ? "pushed" : "refused: $!"'`;
      const onTerminal = async (argv: string[], env: Readonly<Record<string, string>>) => {
        const chunks: Buffer[] = [];
        const request = {
          argv,
          cwd: bed.workspace,
          env: { ...env },
          onOutput: (chunk: Buffer) => void chunks.push(chunk),
        };
        await (await startProcess(request, launch)).ended;
        return Buffer.concat(chunks).toString();
      };
      const wrapped = await bed.wrap(script);
      expect(await onTerminal([wrapped.program, ...wrapped.args], wrapped.env)).toContain(
        "refused: Operation not permitted",
      );
      await wrapped.ended();
      if (isRoot) expect(await onTerminal(["/bin/bash", "-c", script], { PATH })).toContain("pushed");
    });
  });

  needs(maker).describe("[P8] the network", () => {
    it.each(["127.0.0.1", "::1"])("is cut: TCP to %s", async (host) => {
      const port = portOf(await listen({ host, port: 0 }));
      const script = connectWith(JSON.stringify({ host, port }));
      const inside = await bed.inside(script);
      expect(inside.output).toMatch(/^(ECONNREFUSED|ENETUNREACH|EADDRNOTAVAIL)$/);
      expect((await bed.unprotected(script)).output).toBe("hello from outside");
    });

    it("is cut: other machines", async () => {
      const script = connectWith('{ host: "192.0.2.1", port: 80 }');
      const inside = await bed.inside(script);
      expect(inside.output).toBe("ENETUNREACH");
      expect(inside.hint).toContain("has no network");
    });

    it("is cut: UDP, as a name server would be asked", async () => {
      const server = createSocket("udp4");
      servers.push(server);
      const received: string[] = [];
      server.on("message", (message) => received.push(message.toString()));
      await new Promise<void>((resolve) => server.bind(0, "127.0.0.1", resolve));
      const script = `echo -n question >/dev/udp/127.0.0.1/${server.address().port}`;
      await bed.inside(script);
      await bed.unprotected(script.replace("question", "control"));
      // What was sent first arrives first: had the question come out, it would be before the control.
      await until(() => received.length > 0);
      expect(received).toEqual(["control"]);
    });

    it("is cut: names", async () => {
      const inside = await bed.inside(
        "getent hosts example.com || { echo 'getaddrinfo EAI_AGAIN example.com'; false; }",
      );
      expect(inside).toMatchObject({ code: 1, hint: expect.stringContaining("has no network") });
    });

    if (hasFilter)
      it("is cut: the way to the hypervisor and other kinds of sockets", async () => {
        const script = 'perl -e \'for (40, 38, 17, 31) { print socket(S, $_, 2, 0) ? "open" : "$!", "\\n" }\'';
        const inside = await bed.inside(script);
        expect(inside.output.split("\n")).toEqual(Array(4).fill("Address family not supported by protocol"));
      });

    it("exists inside, for tests that start their own server", async () => {
      const script = `node -e 'const net = require("node:net"); const s = net.createServer((c) => c.end("own")).listen(0, "127.0.0.1", () => net.connect(s.address().port).on("data", (d) => { console.log(String(d)); s.close(); }))'`;
      expect((await bed.inside(script)).output).toBe("own");
    });
  });

  needs(maker).describe("[P8] outliving the command", () => {
    /** The ids of live processes with these words on their command line. */
    const living = (tag: string): number[] =>
      readdirSync("/proc")
        .filter((name) => {
          try {
            const stat = readFileSync(`/proc/${name}/stat`, "latin1");
            return !/\) [ZX]/.test(stat) && readFileSync(`/proc/${name}/cmdline`, "latin1").includes(tag);
          } catch {
            return false;
          }
        })
        .map(Number);
    /** Without its parent, its session, its output and its environment: nothing outside could know whose it is. */
    const daemon = (tag: string) =>
      `(setsid env -i nohup bash -c 'sleep 60; : ${tag}' </dev/null >/dev/null 2>&1 &) ; true`;

    it("does not happen", async () => {
      const tag = `daemon-inside-${process.pid}`;
      const wrapped = await bed.wrap(daemon(tag));
      const child = spawn(wrapped.program, wrapped.args, {
        cwd: wrapped.cwd,
        env: wrapped.env,
        stdio: "ignore",
        detached: true,
      });
      await new Promise((resolve) => child.once("exit", resolve));
      expect(living(tag)).toEqual([]);
      await wrapped.ended();

      const free = `daemon-outside-${process.pid}`;
      const other = spawn("/bin/bash", ["-c", daemon(free)], { stdio: "ignore", detached: true });
      await new Promise((resolve) => other.once("exit", resolve));
      await until(() => living(free).length > 0);
      for (const pid of living(free)) process.kill(pid, "SIGKILL");
    });

    it("does not happen when Oxbow is killed", async () => {
      const tag = `orphan-${process.pid}`;
      const wrapped = await bed.wrap(`echo ready >ready; sleep 60; : ${tag}`);
      const starter = spawn("/bin/sh", ["-c", '"$@" & wait', "sh", wrapped.program, ...wrapped.args], {
        ...{ cwd: wrapped.cwd, env: wrapped.env, stdio: "ignore" },
      });
      await until(() => existsSync(bed.path("ready")));
      starter.kill("SIGKILL");
      await until(() => living(tag).length === 0);
      await wrapped.ended();
    });

    it("can be ended at any time, and says so", async () => {
      const wrapped = await bed.wrap("trap '' TERM; echo ready >ready; while :; do sleep 1; done");
      const running = await bed.start(wrapped);
      await until(() => existsSync(bed.path("ready")));
      expect(await running.stop()).toMatchObject({ reason: "cancelled", survivors: 0 });
      await wrapped.ended();
    });
  });

  needs(maker).describe("[P8] life inside", () => {
    it("gives output, exit codes and the reading of files as outside", async () => {
      writeFileSync(bed.path("file"), "content");
      const script = "cat file; echo to-stderr >&2; id -u; pwd; exit 7";
      const [inside, outside] = [await bed.inside(script), await bed.unprotected(script)];
      expect(inside).toMatchObject({ code: 7, output: outside.output });
      expect((await bed.inside("kill -9 $$")).output).toBe("");
      expect((await bed.inside("kill -9 $$")).code).toBe(137);
      expect((await bed.inside("/no/such/program")).code).toBe(127);
    });

    it("runs on a terminal", async () => {
      const launch = await findTerminal();
      if (launch === undefined) throw new Error("no terminal: install util-linux");
      const wrapped = await bed.wrap("[ -t 0 ] && [ -t 1 ] && stty size && echo >/dev/tty; exit 5");
      const chunks: Buffer[] = [];
      const { program, args, cwd, env } = wrapped;
      const request = {
        argv: [program, ...args],
        cwd,
        env: { ...env },
        onOutput: (chunk: Buffer) => void chunks.push(chunk),
      };
      const end = await (await startProcess(request, launch)).ended;
      await wrapped.ended();
      expect(Buffer.concat(chunks).toString()).toContain("40 120");
      expect(end.exitCode).toBe(5);
    });

    it("passes input on", async () => {
      const wrapped = await bed.wrap("tr a-z A-Z");
      const child = spawn(wrapped.program, wrapped.args, { cwd: wrapped.cwd, env: wrapped.env });
      let output = "";
      child.stdout.on("data", (chunk) => {
        output += chunk;
      });
      child.stdin.end("typed");
      await new Promise((resolve) => child.once("close", resolve));
      await wrapped.ended();
      expect(output).toBe("TYPED");
    });
  });
}
