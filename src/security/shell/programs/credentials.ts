/** Commands whose purpose is to show credentials. They are refused, not asked about. */

/** Refused by name. A name that ends in `*` matches all names with that beginning. */
export const CREDENTIAL_PROGRAMS: readonly string[] = [
  ..."security secret-tool keyctl kwalletcli kwallet-query gnome-keyring gnome-keyring-daemon".split(" "),
  ..."pass gopass passage op bw rbw lpass dashlane dcli keepassxc-cli keychain-dumper systemd-creds".split(" "),
  ..."cmdkey vaultcmd git-credential-* docker-credential-* mimikatz lazagne".split(" "),
];

/** Refused when these words follow the program's name, anywhere and in this order. */
export const CREDENTIAL_COMMANDS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  git: [["credential"], ["credential-cache"], ["credential-store"], ["credential-manager"]],
  gh: [
    ["auth", "token"],
    ["auth", "status", "--show-token"],
    ["auth", "status", "-t"],
  ],
  glab: [
    ["auth", "status", "--show-token"],
    ["auth", "status", "-t"],
  ],
  gpg: [["--export-secret-keys"], ["--export-secret-subkeys"], ["--export-secret-key"], ["--export-ownertrust"]],
  gpg2: [["--export-secret-keys"], ["--export-secret-subkeys"], ["--export-secret-key"]],
  aws: [
    ["configure", "get"],
    ["configure", "export-credentials"],
    ["secretsmanager", "get-secret-value"],
    ["ecr", "get-login-password"],
    ["sts", "get-session-token"],
  ],
  gcloud: [
    ["auth", "print-access-token"],
    ["auth", "print-identity-token"],
    ["secrets", "versions", "access"],
  ],
  az: [
    ["account", "get-access-token"],
    ["keyvault", "secret", "show"],
  ],
  vault: [["read"], ["kv", "get"], ["token"], ["print"]],
  kubectl: [
    ["get", "secret"],
    ["get", "secrets"],
    ["config", "view", "--raw"],
    ["create", "token"],
  ],
  npm: [["token"], ["config", "get", "//"]],
  heroku: [["auth:token"]],
  doctl: [["auth", "token"]],
  flyctl: [["auth", "token"]],
  fly: [["auth", "token"]],
  firebase: [["login:ci"]],
};

const each = (names: string, verbs: string) =>
  names.split(" ").flatMap((name) => verbs.split(" ").map((verb) => [name, verb]));

/**
 * Of Oxbow itself: what widens permissions, trust, budgets or what is stored, or deletes sessions. Oxbow refuses these in a command
 * that a model started; here they are refused even if the command removes the variable.
 */
export const OWN_COMMANDS: readonly (readonly string[])[] = [
  ...each("permissions", "set reset revoke promote safemode on off allow deny"),
  ...[
    ["ack"],
    ["attach"],
    ["engine"],
    ["stop"],
    ["uninstall"],
    ["serve"],
    ["token"],
    ["tokens"],
    ["kb"],
    ["rag"],
    ["debug"],
    ["web"],
  ],
  ...each("auth creds", "set add remove delete unlock lock"),
  ...each("session sessions", "delete gc dismiss undo unpin import rename compact rerun"),
  ...each("config", "set reset"),
  ...each("sources", "allow revoke"),
  ...each("route", "add remove enable disable"),
  ...each("memory", "add edit forget"),
  ...each("mcp", "add remove test auth approve"),
  ...each("mcp-server", "approve forget"),
  ...each("ollama", "start stop use pull"),
  ...[
    ["--auto-approve"],
    ["--allow"],
    ["--allow-project-hooks"],
    ["--budget"],
    ["--profile"],
    ["--attach"],
    ["--add-dir"],
    ["--web"],
  ],
  ...[["--permission-mode", "allow"], ["--permission-mode=allow"], ["--sandbox", "off"], ["--sandbox=off"]],
];

/** Oxbow's own folders wherever the home folder is. */
export const OWN_PLACES: readonly RegExp[] = [
  /(^|[/=:@])\.config\/oxbow(\/|$)/,
  /(^|[/=:@])\.local\/(share|state)\/oxbow(\/|$)/,
  /\$XDG_(CONFIG|DATA|STATE)_HOME\/oxbow(\/|$)/,
  /\$OXBOW_(HOME|SESSIONS|STORE|PROFILE)(\/|$)/,
];
