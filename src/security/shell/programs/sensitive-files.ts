/** Files that hold secrets, by the names people and programs give them. Data for `paths.ts`; all in lower case. */

/** A folder or file of this name anywhere in a path. */
export const SENSITIVE_NAMES: ReadonlySet<string> = new Set([
  ..."  .ssh .aws .gnupg .azure .kube .docker .gcloud .password-store .vault-token".trim().split(" "),
  ...".env .envrc .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .boto .s3cfg .htpasswd .git-credentials".split(
    " ",
  ),
  ...".bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history".split(" "),
  ..."id_rsa id_dsa id_ecdsa id_ed25519 credentials credentials.json secrets.json secrets.yml secrets.yaml".split(" "),
  ..."secrets.toml secrets.env shadow gshadow master.passwd".split(" "),
]);

/** Names that match one of these, anywhere in a path. */
export const SENSITIVE_SHAPES: readonly RegExp[] = [
  /^\.env\.(?!example$|sample$|template$|dist$|defaults?$)/,
  /^id_(rsa|dsa|ecdsa|ed25519)[-_.]/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)$/,
  /^service[-_]?account.*\.json$/,
];

/** Consecutive parts of a path. */
export const SENSITIVE_PLACES: readonly string[] = [
  ".config/gh",
  ".config/gcloud",
  ".config/op",
  ".git/config",
  ".local/share/keyrings",
  "library/keychains",
];

/** Outside every workspace and yet without secrets. */
export const HARMLESS_FILES: ReadonlySet<string> = new Set([
  "/dev/null",
  "/dev/stdin",
  "/etc/os-release",
  "/etc/lsb-release",
  "/etc/debian_version",
  "/etc/alpine-release",
  "/proc/cpuinfo",
  "/proc/meminfo",
  "/proc/version",
  "/proc/loadavg",
  "/proc/uptime",
]);
