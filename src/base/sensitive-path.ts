/** Files that hold secrets, by their usual names. File tools, searches, git and shell commands all use this one rule. */
import { plainPath } from "./plain-name.js";

const names = (list: string) => new Set(list.split(" "));

/** Folders and files of these names, with everything below them. */
const ANYWHERE: Readonly<Record<string, ReadonlySet<string>>> = {
  "the folder holds keys": names(".ssh .oxbow-secrets .aws .gnupg .azure .kube .docker .gcloud .password-store"),
  "environment files hold secrets": names(".env .envrc"),
  "the file can hold credentials": names(
    ".netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .boto .s3cfg .htpasswd .git-credentials .vault-token",
  ),
  "the file records commands that you typed": names(
    ".bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history",
  ),
};

/** Files of these names; a folder with such a name is harmless. */
const FILES: Readonly<Record<string, ReadonlySet<string>>> = {
  "the file can be a private key": names("id_rsa id_dsa id_ecdsa id_ed25519"),
  "the file can hold credentials": names(
    "credentials credentials.json secrets.json secrets.yml secrets.yaml secrets.toml secrets.env shadow gshadow master.passwd",
  ),
};

const FILE_SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^\.{1,2}env[-_.~](?!example$|sample$|template$|dist$|defaults?$)/, "environment files hold secrets"],
  [/^id_(rsa|dsa|ecdsa|ed25519)[-_.]/, "the file can be a private key"],
  [/\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)$/, "the file can be a private key"],
  [/^(service[-_]?account.*|gha-creds-.+)\.json$/, "cloud credentials"],
];

const PLACES: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)\.git\/(config|credentials)(\.[^/]*)?(\/|$)/, "git configuration can hold credentials"],
  [/(^|\/)\.config\/(gh|gcloud|op)(\/|$)/, "the folder holds keys"],
  [/(^|\/)(\.local\/share\/keyrings|library\/keychains)(\/|$)/, "the folder holds keys"],
];

const byName = (table: Readonly<Record<string, ReadonlySet<string>>>) =>
  new Map(Object.entries(table).flatMap(([reason, known]) => [...known].map((name) => [name, reason] as const)));
const REASON_ANYWHERE = byName(ANYWHERE);
const REASON_OF_FILE = byName(FILES);

/** Tells why the user must agree before the file is read; undefined for an ordinary file. `path` has forward slashes. */
export function sensitiveReason(path: string): string | undefined {
  const parts = plainPath(path)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const last = parts.at(-1);
  if (last === undefined) return undefined;
  for (const part of parts) {
    const reason = REASON_ANYWHERE.get(part);
    if (reason !== undefined) return reason;
  }
  const place = parts.length === 1 ? undefined : PLACES.find(([shape]) => shape.test(parts.join("/")));
  return REASON_OF_FILE.get(last) ?? place?.[1] ?? FILE_SHAPES.find(([shape]) => shape.test(last))?.[1];
}

/** Tells whether everything in a folder of this path is sensitive. A folder that only has the name of such a file is harmless. */
export function isSensitiveFolder(path: string): boolean {
  return sensitiveReason(`${path}/any`) !== undefined;
}

/** All complete names, for globs that contain a part of one. */
export const SENSITIVE_NAMES: readonly string[] = [...Object.values(ANYWHERE), ...Object.values(FILES)].flatMap(
  (known) => [...known],
);
