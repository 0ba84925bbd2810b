/**
 * A small shell that starts programs in our place. To start one from here copies the page tables of this whole process and
 * holds it up meanwhile; a shell of three megabytes does the same in a fraction of the time, and on another core.
 *
 * 1. It starts one program at a time, in the folder and with the environment that it has itself.
 * 2. A program has been started or it has not: it says so itself, when all its files are open. When that word has not come and
 *    cannot come any more, nothing has run.
 * 3. Its session holds the program, what that started, and nothing else. The program has a process group of its own.
 * 4. Nothing of its own is handed on: it hears and speaks through descriptors that the program does not get.
 * 5. It ends when the pipe ends that only this process holds.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { shellWord } from "../base/shell-word.js";
import { identityOf } from "./file-identity.js";
import { OutputPipe } from "./output-pipe.js";
import type { Exit, Launched, ProcessRequest } from "./process-group.js";
import { MARKER_VARIABLE, withInstanceMarker } from "./process-tree.js";
import { signalName } from "./signal-name.js";

/** What the launcher and all that it starts have in common. */
export type LauncherPlace = Pick<ProcessRequest, "cwd" | "env">;

/** bash reads its orders byte by byte, which takes longer than a new process from some length on. */
const MAX_ORDER_BYTES = 16_384;
/** The files of a program are the descriptors below. Through this one it says that it starts; then it is closed. */
const VOICE = 9;
const FIRST_DESCRIPTOR = 3;
/** It answers within a millisecond, or something holds it. */
const PATIENCE_MS = 5000;

/**
 * Job control gives each program a group of its own, and `jobs` tells an exit code from a signal with the same number. For job
 * control `wait` is over when a program was stopped; `wait -f` is not, but keeps a core busy meanwhile.
 */
const OPENING = `set -m
trap 'LC_ALL=C jobs -l' CHLD
unset OLDPWD
echo "r$BASHPID"
`;

interface Origin {
  readonly pid: number;
  readonly place: LauncherPlace;
  /** Which folder that was before the launcher was started in it. */
  readonly folder: string;
}

export class Launcher {
  readonly #child: ChildProcess;
  readonly pid: number;
  readonly #place: LauncherPlace;
  readonly #folder: string;
  readonly #variables: number;
  #words = "";
  #heard = "";
  #onLine: (line: string) => void = () => {};
  #onGone: () => void = () => {};
  #isAlive = true;
  #isBusy = false;

  private constructor(child: ChildProcess, { pid, place, folder }: Origin) {
    this.#child = child;
    this.pid = pid;
    this.#place = place;
    this.#folder = folder;
    this.#variables = countOf(place.env);
    child.stdin?.on("error", () => {});
    child.stdout?.setEncoding("latin1").on("data", (text: string) => this.#onOutput(text));
    child.stdout?.on("close", () => {
      this.#isAlive = false;
      this.#onGone();
    });
    this.#unref();
  }

  /** Undefined where there is none: no bash, or one that is too old. */
  static async start(bash: string, place: LauncherPlace): Promise<Launcher | undefined> {
    const folder = identityOf(place.cwd);
    const child = spawn(bash, ["--norc", "--noprofile", "-s"], {
      cwd: place.cwd,
      env: withInstanceMarker(place.env),
      // A session of its own, or Ctrl-C in the terminal would end it together with us.
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.on("error", () => {});
    if (child.pid === undefined) return undefined;
    const launcher = new Launcher(child, { pid: child.pid, place, folder });
    return (await launcher.#greet()) ? launcher : undefined;
  }

  /** Whether it could start this now. */
  canLaunch(request: ProcessRequest): boolean {
    const { cwd, env, input, onErrorOutput, descriptors = [] } = request;
    return (
      this.#isAlive &&
      !this.#isBusy &&
      input === undefined &&
      onErrorOutput === undefined &&
      descriptors.length <= VOICE - FIRST_DESCRIPTOR &&
      cwd === this.#place.cwd &&
      countOf(env) === this.#variables &&
      Object.entries(env).every(([name, value]) => name === MARKER_VARIABLE || this.#place.env[name] === value) &&
      identityOf(cwd) === this.#folder
    );
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Undefined when nothing was started, and nothing will be. */
  async launch(request: ProcessRequest): Promise<Launched | undefined> {
    const words = `oxbow_words=(${request.argv.map(shellWord).join(" ")})\n`;
    if (words.length > MAX_ORDER_BYTES) return undefined;
    this.#isBusy = true;
    const pipe = await OutputPipe.open();
    if (pipe === undefined || !this.#isAlive) {
      pipe?.close();
      this.#isBusy = false;
      return undefined;
    }
    this.#ref();
    // Commands differ; a sandbox that is made again and again is a long list of words that stay the same.
    this.#child.stdin?.write(words === this.#words ? order(request, pipe) : words + order(request, pipe));
    this.#words = words;
    const started = await this.#answer();
    if (started === undefined) {
      pipe.close();
      this.end();
      return undefined;
    }
    pipe.start(request.onOutput);
    return {
      pid: started.pid,
      keeper: this.pid,
      exited: started.exited,
      outputLink: pipe.link,
      outputEnded: () => pipe.ended,
      outputEnd: new Promise(() => {}),
      drain: () => pipe.drain(),
      close: () => {
        pipe.close();
        // Only now: until here everything in this session counted as this command's.
        this.#isBusy = false;
      },
      ref: () => {
        this.#ref();
        pipe.ref();
      },
      unref: () => {
        this.#unref();
        pipe.unref();
      },
    };
  }

  /** What it has started goes on. */
  end(): void {
    this.#isAlive = false;
    this.#child.stdin?.destroy();
  }

  /** Waits for the program's own word that it is about to run; the end of the program comes later. */
  #answer(): Promise<{ readonly pid: number; readonly exited: Promise<Exit> } | undefined> {
    return new Promise((resolve) => {
      let tellExit: (exit: Exit) => void = () => {};
      let wasExit = false;
      const exited = new Promise<Exit>((tell) => {
        tellExit = tell;
      });
      // Its silence lasts until everything it has started is gone as well, or has said its word.
      const impatience = setTimeout(() => this.#kill(), PATIENCE_MS);
      const over = (exit: Exit) => {
        clearTimeout(impatience);
        this.#onGone = () => {};
        this.#unref();
        tellExit(exit);
        resolve(undefined);
      };
      this.#onGone = () => over({ code: undefined, signal: "SIGKILL" });
      this.#onLine = (line) => {
        if (line.startsWith("p")) {
          clearTimeout(impatience);
          resolve({ pid: Number(line.slice(1)), exited });
        } else if (line.startsWith("x")) {
          over(exitOf(Number(line.slice(1)), { wasExit }));
        } else {
          wasExit ||= /^\[\d+\]\S*\s+\d+ Exit\b/.test(line);
        }
      };
    });
  }

  #greet(): Promise<boolean> {
    return new Promise((resolve) => {
      const impatience = setTimeout(() => this.#kill(), PATIENCE_MS).unref();
      const over = (isGood: boolean) => {
        clearTimeout(impatience);
        this.#onGone = () => {};
        if (!isGood) this.end();
        resolve(isGood);
      };
      this.#onGone = () => over(false);
      this.#onLine = (line) => over(line === `r${this.pid}`);
      this.#child.stdin?.write(OPENING);
    });
  }

  #onOutput(text: string): void {
    const lines = (this.#heard + text).split("\n");
    this.#heard = lines.pop() ?? "";
    for (const line of lines) this.#onLine(line);
  }

  #kill(): void {
    this.#child.kill("SIGKILL");
  }

  #ref(): void {
    for (const handle of this.#handles) handle.ref();
  }

  /** It does not keep this process alive. */
  #unref(): void {
    for (const handle of this.#handles) handle.unref();
  }

  get #handles(): readonly { ref(): void; unref(): void }[] {
    const { stdin, stdout } = this.#child;
    return [this.#child, stdin, stdout] as unknown as { ref(): void; unref(): void }[];
  }
}

/** The descriptors are opened anew through /proc, which works as long as this process has them. */
function order({ env, descriptors = [], withheld }: ProcessRequest, pipe: OutputPipe): string {
  const own = (descriptor: number) => `/proc/${process.pid}/fd/${descriptor}`;
  const marker = env[MARKER_VARIABLE];
  const opened = descriptors.map((descriptor, index) => `${FIRST_DESCRIPTOR + index}<${own(descriptor)}`);
  const closed = withheld?.descriptors.map((descriptor) => `${descriptor}<&-`) ?? [];
  return [
    `{ echo "p$BASHPID" >&${VOICE};`,
    `${marker === undefined ? "" : `${MARKER_VARIABLE}=${shellWord(marker)} `}exec -- "\${oxbow_words[@]}" ${VOICE}>&-; }`,
    `${VOICE}>&1 </dev/null >${own(pipe.writeEnd)} 2>&1 ${[...closed, ...opened].join(" ")} &`,
    'LC_ALL=C jobs -l; wait $!; s=$?; while kill -0 $!; do sleep 0.1; wait $!; s=$?; done; echo "x$s"\n',
  ].join(" ");
}

/** `wasExit`: the shell said that it was an exit code. It is too late for that now and then; few codes are that high. */
function exitOf(status: number, { wasExit }: { readonly wasExit: boolean }): Exit {
  const signal = status > 128 && !wasExit ? signalName(status - 128) : undefined;
  return { code: signal === undefined ? status : undefined, signal };
}

function countOf(env: Readonly<Record<string, string>>): number {
  return Object.keys(env).length - (MARKER_VARIABLE in env ? 1 : 0);
}
