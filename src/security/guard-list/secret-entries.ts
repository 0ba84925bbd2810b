/** The names of secret files in a folder, found quickly: a work tree has many names. */
import { isSensitiveFolder, sensitiveReason } from "../../base/sensitive-path.js";

/** Every name of such a file or folder has one of these shapes. */
const SUSPECT =
  /^[._]|^id_|^(credentials|secrets|service|gha-creds|shadow|gshadow|master)|\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)[. ]*$|[^\x20-\x7e]/i;
/** Code of other people, as in `node_modules`. */
const PACKAGES = /(^|\/)(site-packages|dist-packages)(\/|$)/;

/** `folder` is relative to the work tree, with forward slashes. Of a folder of secrets, only the folder itself counts. */
export function secretEntries(folder: string, names: readonly string[]): readonly string[] {
  if (PACKAGES.test(folder) || (folder !== "" && isSensitiveFolder(folder))) return [];
  const before = folder === "" ? "" : `${folder}/`;
  return names.filter((name) => SUSPECT.test(name) && name !== ".git" && sensitiveReason(before + name) !== undefined);
}
