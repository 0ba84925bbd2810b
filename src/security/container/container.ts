/**
 * The command line that runs a command in a fresh container of a configured image.
 *
 * 1. Variables are named on the command line; their values come from the environment of the container program.
 * 2. A container does not die with the program that started it: `cleanUp` ends it and must run when the command has ended,
 *    for whatever reason.
 * 3. The network is off: the image need not have a program that could reach the proxy.
 * 4. The container program itself is trusted and gets what it needs to find its engine; none of that enters the container.
 */
import { basename } from "node:path";
import type { Variables } from "../../base/variables.js";
import { textAt } from "../../system/names-in.js";
import type { Wrapped } from "../sandbox/bubblewrap.js";
import type { Layout } from "../sandbox/layout.js";
import { type Command, SandboxError, type SandboxPolicy } from "../sandbox/policy.js";

export interface ContainerParts {
  /** `docker` or `podman`, absolute. */
  readonly program: string;
  readonly image: string;
  /** Unique on this machine. */
  readonly name: string;
  readonly policy: SandboxPolicy;
  readonly layout: Layout;
  /** An empty file. */
  readonly blank: string;
  /** Files made inside belong to the person. */
  readonly user: { readonly uid: number; readonly gid: number };
  /** The limits of this process. */
  readonly hard: HardLimits;
  /** Variables of the container program. */
  readonly engine: Readonly<Record<string, string>>;
}

/** Tell the container programs where to find their engine and their own files. */
const ENGINE_VARIABLES: readonly string[] = [
  ..."DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY".split(" "),
  ..."CONTAINER_HOST CONTAINERS_CONF XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DBUS_SESSION_BUS_ADDRESS".split(" "),
];

export function engineVariables(variables: Variables): Readonly<Record<string, string>> {
  const given = (name: string) => (variables[name] === undefined ? [] : [[name, variables[name]] as const]);
  return Object.fromEntries(ENGINE_VARIABLES.flatMap(given));
}

export interface WrappedInContainer extends Wrapped {
  readonly cleanUp: readonly string[];
}

/** These name places of the machine, not of the image. */
const NOT_HANDED_ON = new Set(["PATH", "HOME", "SHELL", "TMPDIR", "TMP", "TEMP", "HOSTNAME", "PWD"]);

export function containerCommand(parts: ContainerParts, command: Command): WrappedInContainer {
  const { policy, layout, program, name, image } = parts;
  if (policy.network !== "off") {
    throw new SandboxError(
      "A container sandbox has no network at all. Remove the list of allowed hosts, or use bubblewrap.",
    );
  }
  const variables = Object.keys(command.env).filter((variable) => !NOT_HANDED_ON.has(variable.toUpperCase()));
  const { pinned, readOnly } = layout.guards;
  const hidden = layout.hidden.filter(({ path }) => layout.writable.some((root) => path.startsWith(`${root}/`)));
  return {
    program,
    args: [
      ..."run --rm -i --network none --read-only --cap-drop ALL --pull never".split(" "),
      ...(command.isOnTerminal ? ["-t"] : []),
      ...["--name", name, "--security-opt", "no-new-privileges", ...engineOptions(parts)],
      ...limitOptions(parts),
      ...["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${policy.temporaryBytes}`],
      ...[...layout.writable, ...pinned].flatMap((path) => mount(path, path)),
      ...readOnly.flatMap((path) => mount(path, path, "readonly")),
      ...hidden.flatMap(({ path, kind }) =>
        kind === "file" ? mount(parts.blank, path, "readonly") : ["--tmpfs", `${path}:ro,size=4096,mode=0000`],
      ),
      ...layout.visible.flatMap((path) => mount(path, path, "readonly")),
      ...["--workdir", command.cwd, "--env", "HOME=/tmp", "--env", "TMPDIR=/tmp"],
      ...variables.flatMap((variable) => ["--env", variable]),
      // By name: the image may keep the program elsewhere.
      ...["--entrypoint", basename(command.program), image, ...command.args],
    ],
    cwd: command.cwd,
    env: { ...command.env, ...parts.engine },
    // Not `kill`: the container may have been made and not been started yet.
    cleanUp: [program, "rm", "--force", name],
  };
}

/**
 * Podman without root gives a container its own user ids, unless a flag keeps the user's. Where the system labels files, a container
 * may use only files with its own label; a flag turns that off, so that the files of the workspace keep their labels.
 */
function engineOptions({ program, user }: ContainerParts): string[] {
  const options = ["--user", `${user.uid}:${user.gid}`];
  if (basename(program) !== "podman") return ["--init", ...options];
  return [...options, "--security-opt", "label=disable", ...(user.uid === 0 ? [] : ["--userns", "keep-id"])];
}

/** Not `-v`: there a colon in a path would be taken for a separator. */
function mount(source: string, target: string, option?: "readonly"): string[] {
  const fields = ["type=bind", `source=${source}`, `target=${target}`, ...(option === undefined ? [] : [option])];
  return [
    "--mount",
    fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(","),
  ];
}

/** More than any command needs; Podman lowers its own limit, and may then not set one as high as ours. */
const MOST_PROCESSES = 32_768;

/** Podman raises the limits of processes and files unless they are named, and then nothing starts where it may not raise them. */
function limitOptions({ policy: { limits }, program, hard }: ContainerParts): string[] {
  const isPodman = basename(program) === "podman";
  const openFiles = least(limits.openFiles, isPodman ? hard.openFiles : undefined);
  const options: string[] = ["--ulimit", "core=0"];
  if (limits.processes !== undefined) options.push("--pids-limit", String(limits.processes));
  if (isPodman && hard.processes !== undefined) {
    options.push("--ulimit", `nproc=${Math.min(hard.processes, MOST_PROCESSES)}`);
  }
  if (limits.memoryBytes !== undefined) options.push("--memory", String(limits.memoryBytes));
  if (limits.fileSizeBytes !== undefined) options.push("--ulimit", `fsize=${limits.fileSizeBytes}`);
  if (limits.cpuSeconds !== undefined) options.push("--ulimit", `cpu=${limits.cpuSeconds}`);
  if (openFiles !== undefined) options.push("--ulimit", `nofile=${openFiles}`);
  return options;
}

function least(...values: readonly (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}

/** The most that a process here may allow itself; undefined where that is not limited or not known. */
export interface HardLimits {
  readonly processes?: number;
  readonly openFiles?: number;
}

export function ownHardLimits(): HardLimits {
  const text = textAt("/proc/self/limits");
  const hard = (name: string) => {
    const [, value] = new RegExp(`^${name} +\\S+ +(\\d+)`, "m").exec(text) ?? [];
    return value === undefined ? undefined : Number(value);
  };
  const [processes, openFiles] = [hard("Max processes"), hard("Max open files")];
  return { ...(processes !== undefined && { processes }), ...(openFiles !== undefined && { openFiles }) };
}
