/** Describes what well-known programs do, for the reason why a command asks: "is not known to only read" says little about `rm`. Data. */

const EFFECTS: readonly (readonly [effect: string, programs: string])[] = [
  ["deletes files", "rm rmdir unlink shred srm trash rimraf"],
  [
    "changes files",
    "cp mv mkdir touch tee ln link install truncate patch dd chmod chown chgrp mkfifo mknod split unzip gzip gunzip zip",
  ],
  [
    "runs code",
    "npm npx pnpm yarn bun bunx deno node python python3 pip pip3 uv poetry pytest ruby perl php java javac mvn gradle cargo rustc go " +
      "make cmake ninja gcc cc g++ clang dotnet sh bash dash zsh fish eval source . tsc jest vitest",
  ],
  ["runs another program", "exec xargs parallel env nohup setsid time watch"],
  [
    "opens connections",
    "curl wget ssh scp sftp rsync nc ncat telnet ftp ping dig nslookup gh glab aws gcloud az kubectl",
  ],
  [
    "changes this machine",
    "sudo doas su apt apt-get dnf yum brew pacman apk snap systemctl service crontab mount umount docker podman",
  ],
  ["ends processes", "kill pkill killall"],
  ["changes the environment", "export unset set alias"],
  ["waits for keys", "vim vi nvim nano emacs less more man top htop"],
];

const BY_PROGRAM: ReadonlyMap<string, string> = new Map(
  EFFECTS.flatMap(([effect, programs]) => programs.split(" ").map((program) => [program, effect] as const)),
);

/** A clause: what the program does, or that Oxbow does not know it. */
export function effectOf(program: string): string {
  const effect = BY_PROGRAM.get(program);
  return effect === undefined ? `"${program}" is not known to only read` : `"${program}" ${effect}`;
}
