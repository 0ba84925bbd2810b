/**
 * Files inside a workspace that deserve a question because they hold secrets. This says which and why; whether to ask is the
 * permission gate's business. Files that other programs run or obey are the business of `path-guard.ts`.
 */
import { plainPath } from "../../base/plain-name.js";
import type { Access } from "./path-resolver.js";

interface Rule {
  readonly pattern: RegExp;
  readonly reason: string;
}

const SECRET: readonly Rule[] = [
  { pattern: /(^|\/)\.git\/(config|credentials)(\.[^/]*)?$/, reason: "git configuration can hold credentials" },
  {
    pattern: /(^|\/)\.env(\.(?!example$|sample$|template$|dist$|defaults?$)[^/]+)?$/,
    reason: "environment files hold secrets",
  },
  { pattern: /(^|\/)gha-creds-[^/]+\.json$/, reason: "cloud credentials of a CI run" },
  { pattern: /(^|\/)(\.netrc|\.pypirc|\.git-credentials|\.pgpass)$/, reason: "the file can hold credentials" },
  { pattern: /(^|\/)\.(ssh|aws|gnupg)(\/|$)/, reason: "the folder holds keys" },
  { pattern: /(^|\/)(id_(rsa|dsa|ecdsa|ed25519)|[^/]+\.(pem|p12|pfx|key))$/, reason: "the file can be a private key" },
];

/** The reason to ask before this access, or undefined. `path` is relative to the workspace, with forward slashes. */
export function protection(path: string, _access: Access): string | undefined {
  const plain = plainPath(path);
  return SECRET.find((rule) => rule.pattern.test(plain))?.reason;
}
