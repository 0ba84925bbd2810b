/**
 * Programs that certainly need the network, or a service of this machine that the sandbox does not reach. Data. What may need it and
 * may not (`npx tsc`, `go mod tidy`, a build) is not listed: it runs without the network first, and its failure says what was missing.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** With any arguments. */
export const ALWAYS: ReadonlySet<string> = words(
  "ssh scp sftp ssh-copy-id sshfs mosh telnet nc ncat netcat ftp lftp tftp aria2c httpie xh ping ping6 dig nslookup whois " +
    "traceroute tracepath mtr nmap gh glab hub heroku vercel netlify flyctl fly firebase supabase wrangler aws gcloud gsutil az " +
    "doctl s3cmd rclone kubectl helm ansible ansible-playbook vagrant huggingface-cli yt-dlp youtube-dl cpan cpanm nvm",
);

/** By the first word that is not an option. `""` means none. */
export const BY_SUBCOMMAND: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    npm: words(
      "install i in isntall add ci clean-install install-test it install-ci-test cit update up upgrade publish unpublish login logout " +
        "adduser dist-tag deprecate owner access token create star view info show v search outdated audit ping whoami",
    ),
    pnpm: words(
      "install i install-test it add update up upgrade dlx create publish unpublish fetch import deploy self-update env " +
        "view info show v search outdated audit ping whoami login logout dist-tag deprecate owner access token",
    ),
    yarn: new Set([
      "",
      ..."install add remove up upgrade upgrade-interactive dlx create publish npm login global".split(" "),
      ..."info outdated audit owner tag".split(" "),
    ]),
    bun: words("install i add a remove update upgrade create c publish info outdated audit"),
    deno: words("install add cache upgrade publish outdated update"),
    corepack: words("install prepare use up"),
    pip: words("install download wheel search index"),
    pipx: words("install upgrade upgrade-all run inject"),
    pipenv: words("install sync update lock"),
    poetry: words("install add update lock publish self"),
    uv: words("sync add lock publish"),
    conda: words("install create update env search"),
    mamba: words("install create update env search"),
    go: words("get"),
    cargo: words("add update fetch publish search info login yank owner"),
    rustup: words("update install toolchain target component self"),
    gem: words("install update push fetch search outdated"),
    bundle: words("install update add outdated"),
    composer: words("install update require create-project self-update search outdated audit"),
    dotnet: words("restore add tool workload"),
    mix: words("deps.get deps.update local.hex"),
    flutter: words("pub upgrade"),
    pod: words("install update repo"),
    vcpkg: words("install update"),
    conan: words("install create upload"),
    cabal: words("update"),
    stack: words("update upgrade"),
    opam: words("install update upgrade"),
    luarocks: words("install upload"),
    terraform: words("init apply plan destroy import refresh get login"),
    tofu: words("init apply plan destroy import refresh get login"),
    svn: words("checkout co update up commit ci"),
    hg: words("clone pull push incoming outgoing"),
    fnm: words("install"),
    volta: words("install fetch pin"),
    pyenv: words("install update"),
    asdf: words("install update plugin"),
    mise: words("install use upgrade"),
    sdk: words("install update upgrade"),
  }),
);

/** By the first two words. */
export const BY_TWO_WORDS: ReadonlySet<string> = new Set(
  [
    "uv pip/install,uv pip/sync,uv pip/compile,uv tool/install,uv python/install",
    "go mod/download,dotnet nuget/push,dart pub/get,dart pub/upgrade,swift package/resolve,swift package/update",
    "npx playwright/install,playwright install/,yarn npm/publish,yarn set/version,bun pm/view,bun pm/whoami",
  ].flatMap((line) => line.split(",").map((each) => each.replace("/", " ").trim())),
);

/** They act on the machine, which the sandbox prevents. */
export const ON_THE_MACHINE: ReadonlySet<string> = words(
  "sudo doas su pkexec runuser apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk emerge brew port snap flatpak nix-env " +
    "systemctl service launchctl loginctl crontab at batch reboot shutdown poweroff halt mount umount fdisk parted insmod rmmod " +
    "modprobe sysctl iptables nft ufw useradd userdel usermod groupadd passwd chpasswd visudo docker docker-compose podman nerdctl " +
    "buildah minikube kind colima lima",
);

/** Options that take the next word, before a subcommand. */
export const OPTIONS_WITH_VALUE: ReadonlySet<string> = words(
  "-C --prefix -w --workspace --registry --cwd --dir --filter -F --project -p --manifest-path --color --config -c --directory " +
    "--git-dir --work-tree --namespace --exec-path --config-file --loglevel -R --repository --repo --cache",
);
