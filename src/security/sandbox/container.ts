/**
 * The command line that runs a command in a fresh container of a configured image.
 *
 * 1. Variables are named on the command line; their values come from the environment of the container program.
 * 2. A container does not die with the program that started it: `cleanUp` ends it and must run when the command has ended,
 *    however that came about.
 * 3. The network is off: the image need not have a program that could reach the proxy.
 */
import type { Wrapped } from "./bubblewrap.js";
import type { Layout } from "./layout.js";
import { type Command, SandboxError, type SandboxPolicy } from "./policy.js";

export interface ContainerParts {
  /** `docker` or `podman`, absolute. */
  readonly program: string;
  readonly image: string;
  /** The only one of its kind on this machine. */
  readonly name: string;
  readonly policy: SandboxPolicy;
  readonly layout: Layout;
  /** An empty file. */
  readonly blank: string;
  /** Files made inside belong to the person. */
  readonly user: { readonly uid: number; readonly gid: number };
}

export interface WrappedInContainer extends Wrapped {
  readonly cleanUp: { readonly program: string; readonly args: readonly string[] };
}

/** Where these point is of the machine, not of the image. */
const NOT_HANDED_ON = new Set(["PATH", "HOME", "SHELL", "TMPDIR", "TMP", "TEMP", "HOSTNAME", "PWD"]);

export function containerCommand(parts: ContainerParts, command: Command): WrappedInContainer {
  const { policy, layout, program, name, image, user } = parts;
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
      ..."run --rm -i --init --network none --read-only --cap-drop ALL --pull never".split(" "),
      ...["--name", name, "--security-opt", "no-new-privileges", "--user", `${user.uid}:${user.gid}`],
      ...limitOptions(policy),
      ...["--tmpfs", `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${policy.temporaryBytes}`],
      ...[...layout.writable, ...pinned].flatMap((path) => mount(path, path)),
      ...[...readOnly, ...layout.standIns].flatMap((path) => mount(path, path, "readonly")),
      ...hidden.flatMap(({ path, kind }) =>
        kind === "file" ? mount(parts.blank, path, "readonly") : ["--tmpfs", `${path}:ro,size=4096,mode=0000`],
      ),
      ...["--workdir", command.cwd, "--env", "HOME=/tmp", "--env", "TMPDIR=/tmp"],
      ...variables.flatMap((variable) => ["--env", variable]),
      ...["--entrypoint", command.program, image, ...command.args],
    ],
    cwd: command.cwd,
    env: command.env,
    cleanUp: { program, args: ["kill", name] },
  };
}

/** Not `-v`: there a colon in a path would be taken for a separator. */
function mount(source: string, target: string, option?: "readonly"): string[] {
  const fields = ["type=bind", `source=${source}`, `target=${target}`, ...(option === undefined ? [] : [option])];
  return [
    "--mount",
    fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(","),
  ];
}

function limitOptions({ limits }: SandboxPolicy): string[] {
  const options: string[] = ["--ulimit", "core=0"];
  if (limits.processes !== undefined) options.push("--pids-limit", String(limits.processes));
  if (limits.memoryBytes !== undefined) options.push("--memory", String(limits.memoryBytes));
  if (limits.fileSizeBytes !== undefined) options.push("--ulimit", `fsize=${limits.fileSizeBytes}`);
  if (limits.cpuSeconds !== undefined) options.push("--ulimit", `cpu=${limits.cpuSeconds}`);
  if (limits.openFiles !== undefined) options.push("--ulimit", `nofile=${limits.openFiles}`);
  return options;
}
