/** Lists where secrets usually lie. Names that do not exist on this machine are skipped. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../system/names-in.js";

/** Below the home folder. */
const IN_HOME: readonly string[] = [
  // keys, password stores, cloud and cluster logins
  ..."ssh gnupg aws azure kube oci aliyun password-store databricks snowflake snowsql kaggle vault-token".split(" "),
  ..."s3cfg boto terraformrc terraform.d/credentials.tfrc.json docker/config.json docker/run".split(" "),
  ..."netrc git-credentials pgpass my.cnf pypirc npmrc yarnrc.yml gem/credentials cargo/credentials".split(" "),
  ..."cargo/credentials.toml m2/settings.xml m2/settings-security.xml gradle/gradle.properties composer/auth.json".split(
    " ",
  ),
  ..."pip/pip.conf config/pip/pip.conf config/pypoetry/auth.toml local/share/uv/credentials bundle/config".split(" "),
  ..."nuget/NuGet/NuGet.Config config/NuGet ivy2/.credentials sbt/.credentials hex/hex.config pki minikube".split(" "),
  ..."cloudflared config/cloudflared ngrok2 config/ngrok config/linode-cli config/scw config/exoscale bluemix".split(
    " ",
  ),
  // logins and keys in folders of tool chains
  ..."pub-cache/credentials.json julia/servers dotnet/corefx foundry/keystores rye/credentials nimble/github_api_token".split(
    " ",
  ),
  ..."luarocks/upload_config.lua config/dart rattler".split(" "),
  ..."config/1Password config/Bitwarden config/keepassxc config/age".split(" "),
  ..."huggingface/token cache/huggingface/token local/share/keyrings local/share/kwalletd".split(" "),
  ..."config/gcloud config/gh config/hub config/glab-cli config/doctl config/op config/rclone config/sops".split(" "),
  ..."config/git/credentials config/containers/auth.json config/composer/auth.json config/heroku".split(" "),
  ..."config/netlify config/vercel config/stripe config/hcloud config/flyctl fly wrangler config/.wrangler".split(" "),
  // other agents' logins
  ..."claude/.credentials.json claude.json codex/auth.json gemini/oauth_creds.json config/github-copilot".split(" "),
  ..."local/share/opencode/auth.json local/share/com.vercel.cli pi/agent/auth.json qwen/oauth_creds.json".split(" "),
  ..."config/cursor/auth.json cursor/cli-config.json config/goose local/share/amp/secrets.json factory/auth.json".split(
    " ",
  ),
  // browsers and mail
  ..."config/Slack config/discord config/Signal config/evolution local/share/evolution".split(" "),
  ..."mozilla thunderbird config/google-chrome config/chromium config/BraveSoftware config/microsoft-edge".split(" "),
  // what was typed
  ..."bash_history zsh_history python_history node_repl_history psql_history mysql_history".split(" "),
  ..."sqlite_history lesshst local/share/fish/fish_history local/share/atuin irb_history pry_history".split(" "),
  ..."rediscli_history dbshell mongodb duckdb_history viminfo local/state/nvim/shada config/nushell/history.txt".split(
    " ",
  ),
  // wallets
  ..."bitcoin ethereum electrum config/solana".split(" "),
].map((name) => `.${name}`);

const IN_MAC_HOME: readonly string[] = [
  ..."Keychains Cookies Mail Messages Safari Accounts".split(" "),
  ..."Application Support/Google/Chrome,Application Support/Firefox,Application Support/BraveSoftware".split(","),
  "Application Support/com.apple.TCC",
].map((name) => `Library/${name}`);

const SYSTEM: readonly string[] = [
  ..."/etc/shadow /etc/shadow- /etc/ssl/private".split(" "),
  ..."/etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key".split(" "),
  ..."/etc/kubernetes /etc/rancher /var/lib/kubelet /var/lib/docker /var/lib/containerd".split(" "),
  ..."/etc/NetworkManager/system-connections /etc/wireguard /etc/krb5.keytab /var/spool/cron".split(" "),
  ..."/var/run /var/snap/lxd/common/lxd/unix.socket /private/etc/master.passwd".split(" "),
];

/** The candidates, existing or not. */
export function usualSecrets({ home }: { readonly home: string }): string[] {
  return [...IN_HOME, ...IN_MAC_HOME].map((name) => join(home, name)).concat(SYSTEM);
}

export interface Hidden {
  readonly path: string;
  readonly kind: "folder" | "file";
}

/**
 * Those that exist and are within this process's reach, free of symbolic links. One look into a folder answers for all the
 * candidates that would lie in it.
 */
export function existingSecrets(candidates: readonly string[]): Hidden[] {
  const listings = new Map<string, ReadonlySet<string>>();
  const found = new Map<string, Hidden>();
  for (const candidate of candidates) {
    if (!mayExist(candidate, listings)) continue;
    const hidden = reachable(candidate);
    if (hidden !== undefined) found.set(hidden.path, hidden);
  }
  const all = [...found.values()];
  return all.filter(({ path }) => !all.some((other) => other.kind === "folder" && path.startsWith(`${other.path}/`)));
}

/** The first name below the home folder that begins with a dot decides for nearly all of them. */
const DOTTED = /^(.*?)\/(\.[^/]*)/s;

function mayExist(path: string, listings: Map<string, ReadonlySet<string>>): boolean {
  const [, folder, name = ""] = DOTTED.exec(path) ?? [];
  if (folder === undefined) return true;
  const known = listings.get(folder) ?? new Set(namesIn(folder || "/"));
  listings.set(folder, known);
  // A folder that cannot be listed may still let those pass who know a name.
  return known.size === 0 || known.has(name);
}

function reachable(path: string): Hidden | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || !MODES.some((mode) => permits(path, mode))) return undefined;
    return { path: realpathSync.native(path), kind: found.isDirectory() ? "folder" : "file" };
  } catch {
    // This process cannot reach it.
    return undefined;
  }
}

/** Search permission on a folder is enough for files whose names are known, and write permission is enough for a socket. */
const MODES = [constants.R_OK, constants.W_OK, constants.X_OK];

function permits(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
