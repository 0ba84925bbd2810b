/** A workspace, a folder outside of it and a real sandbox, for tests that try to get out. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodeClock } from "../../system/node-clock.js";
import { runProcess, startProcess } from "../../system/process-group.js";
import { SecretFiles } from "../guard-list/secret-files.js";
import { type SandboxPolicy, sandboxPolicy } from "./policy.js";
import { Sandbox, type SandboxedCommand, type SandboxOptions } from "./sandbox.js";

export const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`;

export interface Ran {
  readonly code: number | undefined;
  readonly output: string;
  /** The message for the model. */
  readonly hint: string | undefined;
}

export interface RunOptions {
  readonly policy?: Partial<SandboxPolicy>;
  readonly env?: Readonly<Record<string, string>>;
  readonly sandbox?: Partial<SandboxOptions>;
  /** One for several commands, as a session has it. */
  readonly within?: Sandbox;
  /** What it writes is held back in a view. */
  readonly writes?: "held";
  /** Changes the words of the sandbox, to show that one of them matters. */
  readonly change?: (words: readonly string[]) => readonly string[];
}

/**
 * The sandbox hides sockets of all programs on this machine. If one of them vanishes while bubblewrap makes it, it fails before the
 * command begins. Other tests open and close sockets all the time.
 */
const NOT_MADE = /^bwrap: Can't /;
const TRIES = 5;

let count = 0;

/** Who makes the sandbox: bubblewrap, or util-linux without it. The names are those of `needs`. */
export type Maker = "sandbox" | "util-linux";

export class SandboxTestbed {
  /** Below /tmp, as the sandbox's own is, so that both are seen to live together. */
  readonly workspace: string;
  /** Not below /tmp, which a sandbox does not see at all. */
  readonly outside: string;
  /** Oxbow's own folder. */
  readonly state: string;
  readonly #sandboxes: Sandbox[] = [];
  readonly #maker: Maker;

  constructor(maker: Maker = "sandbox") {
    this.#maker = maker;
    this.workspace = realpathSync(mkdtempSync(join(tmpdir(), "sandbox-ws-")));
    this.outside = realpathSync(mkdtempSync("/var/tmp/sandbox-out-"));
    this.state = join(this.outside, "state");
    mkdirSync(this.state);
  }

  path(name: string): string {
    return join(this.workspace, name);
  }

  write(path: string, content: string): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  sandbox({ policy, sandbox }: RunOptions = {}): Sandbox {
    count += 1;
    const made = new Sandbox({
      ...{ platform: process.platform, architecture: process.arch, path: PATH },
      ...{ folder: this.state, workspace: this.workspace, id: `test-${process.pid}-${count}` },
      ...(this.#maker === "util-linux" && { findBubblewrap: () => undefined }),
      ...(policy?.secrets === "masked" && { secrets: this.#secrets() }),
      ...sandbox,
      policy: sandboxPolicy({ writable: [this.workspace], hidden: [this.state], ...policy }),
    });
    this.#sandboxes.push(made);
    return made;
  }

  #secrets(): SecretFiles {
    return new SecretFiles({ roots: [this.workspace], home: "/nonexistent", clock: nodeClock, shown: [] });
  }

  /** Runs a script in the sandbox. */
  async inside(script: string, options: RunOptions = {}): Promise<Ran> {
    for (let left = TRIES; ; left--) {
      const ran = await this.#insideOnce(script, options);
      if (left === 1 || !NOT_MADE.test(ran.output)) return ran;
    }
  }

  async #insideOnce(script: string, options: RunOptions): Promise<Ran> {
    const wrapped = await this.wrap(script, options);
    try {
      return await this.run({ ...wrapped, args: options.change?.(wrapped.args) ?? wrapped.args });
    } finally {
      await wrapped.ended();
    }
  }

  /** Runs the same without one: what an attempt does when nothing stops it. */
  async unprotected(script: string, options: RunOptions = {}): Promise<Ran> {
    return await this.run({ ...this.#command(script, options), explain: () => undefined });
  }

  wrap(script: string, options: RunOptions = {}): Promise<SandboxedCommand> {
    return (options.within ?? this.sandbox(options)).wrap(this.#command(script, options));
  }

  async run(
    command: Pick<SandboxedCommand, "program" | "args" | "cwd" | "env" | "explain"> & Partial<SandboxedCommand>,
  ): Promise<Ran> {
    const chunks: Buffer[] = [];
    const end = await runProcess({
      ...{ argv: [command.program, ...command.args], cwd: command.cwd, env: command.env },
      withheld: command.withheld,
      onOutput: (chunk) => chunks.push(chunk),
      timeoutMs: 20_000,
    });
    const output = Buffer.concat(chunks).toString().trimEnd();
    return { code: end.exitCode, output, hint: end.exitCode === 0 ? undefined : command.explain(output) };
  }

  start(command: SandboxedCommand, onOutput: (chunk: Buffer) => void = () => {}) {
    const { program, args, cwd, env } = command;
    return startProcess({ argv: [program, ...args], cwd, env, onOutput, graceMs: 200 });
  }

  async close(): Promise<void> {
    await Promise.all(this.#sandboxes.map((sandbox) => sandbox.close()));
    for (const folder of [this.workspace, this.outside]) rmSync(folder, { recursive: true, force: true });
  }

  #command(script: string, { env = {}, writes }: RunOptions) {
    return {
      program: "/bin/bash",
      args: ["-c", "--", script],
      cwd: this.workspace,
      env: { PATH, HOME: "/root", ...env },
      ...(writes && { writes }),
    };
  }
}
