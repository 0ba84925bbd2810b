/** Data for the patterns that the user may allow for a session. */

/** Sets how many words say what is run, by their beginning; one for all others. The longest beginning counts. */
export const NAMING_WORDS: Readonly<Record<string, number>> = {
  git: 2,
  npm: 2,
  "npm run": 3,
  "npm run-script": 3,
  pnpm: 2,
  "pnpm run": 3,
  yarn: 2,
  "yarn run": 3,
  bun: 2,
  "bun run": 3,
  npx: 2,
  pip: 2,
  pip3: 2,
  poetry: 2,
  "poetry run": 3,
  uv: 2,
  "uv run": 3,
  cargo: 2,
  go: 2,
  dotnet: 2,
  mvn: 2,
  gradle: 2,
  "./gradlew": 2,
  "./mvnw": 2,
  make: 2,
  just: 2,
  docker: 2,
  "docker compose": 3,
  podman: 2,
  kubectl: 2,
  helm: 2,
  terraform: 2,
  gh: 3,
  glab: 3,
  aws: 3,
  gcloud: 3,
  az: 3,
  consul: 3,
  brew: 2,
  apt: 2,
  "apt-get": 2,
  bundle: 2,
  "bundle exec": 3,
  composer: 2,
  mix: 2,
  flutter: 2,
  swift: 2,
  deno: 2,
  "deno task": 3,
  turbo: 2,
  nx: 2,
  systemctl: 2,
};

const words = (list: string) => list.split(" ");

/** Never offered and never matched: they run any code, destroy or export data, or act as another user. */
export const NEVER_BY_PATTERN: ReadonlySet<string> = new Set([
  ...words("sh bash dash zsh ksh fish csh tcsh pwsh powershell cmd busybox toybox"),
  ...words(
    "python python2 python3 node nodejs perl ruby php lua luajit tclsh osascript Rscript julia awk gawk mawk nawk sed gsed ed ex",
  ),
  ...words("gcc g++ cc clang tmux screen"),
  ...words("vi vim nvim nano emacs less more man pager view"),
  ...words("sudo doas su runuser pkexec ssh scp sftp rsync ftp telnet nc ncat socat curl wget aria2c"),
  ...words(
    "eval exec source . builtin command env xargs parallel nohup setsid timeout nice ionice stdbuf time watch script",
  ),
  ...words(
    "chroot unshare nsenter systemd-run flock strace gdb trap alias unalias enable hash set export declare typeset",
  ),
  ...words("local readonly unset shopt fc history coproc mapfile readarray read printf test ["),
  ...words("rm rmdir unlink shred dd mkfs fdisk parted mount umount truncate chmod chown chgrp ln mv cp install tee"),
  ...words(
    "kill pkill killall reboot shutdown halt poweroff crontab at batch tar zip unzip 7z patch uniq xxd split csplit",
  ),
]);

/** A pattern covers these only if it names them: `git push *` does, `git *` does not. */
export const ONLY_BY_NAME: readonly string[] = ["git push"];

/** Longer beginnings that are never offered and never matched. */
export const NEVER_BEGINNINGS: readonly string[] = [
  ...["git reset", "git clean", "git config", "git filter-branch", "git bisect", "git submodule"],
  ...["git checkout", "git restore", "git rebase", "git gc", "git prune", "git reflog", "git remote", "git worktree"],
  ...[
    "npm publish",
    "npm exec",
    "npm x",
    "npm config",
    "npm token",
    "npm login",
    "npm unpublish",
    "pnpm dlx",
    "pnpm exec",
  ],
  ...[
    "yarn dlx",
    "yarn exec",
    "bun x",
    "npx -c",
    "docker run",
    "docker exec",
    "podman run",
    "podman exec",
    "docker cp",
  ],
  ...["kubectl exec", "kubectl delete", "kubectl apply", "kubectl cp", "gh api", "gh auth", "gh secret", "gh alias"],
  ...["cargo publish", "cargo install", "terraform apply", "terraform destroy", "uv run python", "poetry run python"],
  ...[
    "deno run",
    "deno eval",
    "go run",
    "go generate",
    "bundle exec ruby",
    "apt-get remove",
    "apt remove",
    "brew uninstall",
  ],
];

/** Options with which a pattern does not count, in full and as every abbreviation of at least two letters. */
export const NOT_BY_PATTERN: Readonly<Record<string, readonly string[]>> = {
  find: words("-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf -files0-from"),
  fd: words("-x -X --exec --exec-batch"),
  rg: words("--pre --hostname-bin --search-zip -z"),
  sort: words("-o --output --compress-program --files0-from"),
  tree: words("-o --output"),
  base64: words("-o --output"),
  git: words(
    "-c -x -O --config --config-env --exec-path --git-dir --work-tree --upload-pack --receive-pack --exec --ext-diff " +
      "--textconv --output --open-files-in-pager --extcmd --template --separate-git-dir --recurse-submodules",
  ),
  npm: words("--script-shell --node-options --userconfig --globalconfig --prefix --registry --git --shell --global -g"),
  pnpm: words("--script-shell --node-options --dir -C --global -g --registry"),
  yarn: words("--cwd --use-yarnrc --script-shell"),
  make: words("-f -C --file --makefile --directory --eval -I --include-dir"),
  go: words("-exec -toolexec -vettool -overlay -C"),
  cargo: words("--config --manifest-path -C -Z"),
  docker: words("-H --host --context --config --privileged -v --volume --mount"),
  kubectl: words("--kubeconfig --context --server -s --as --token"),
  pytest: words("-p -c -o --rootdir --confcutdir"),
  eslint: words("--resolve-plugins-relative-to --rulesdir --config -c --output-file -o"),
  tsc: words("--project -p --outDir --build -b"),
};
