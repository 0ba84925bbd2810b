/**
 * Files inside a workspace that deserve a question all the same: they hold secrets, or a later program runs what they say.
 * This says which and why; whether to ask is the permission gate's business.
 *
 * 1. Names are compared as the most forgiving file system would: letter case, trailing dots and spaces, stream suffixes,
 *    short names and invisible characters make no difference.
 */
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

const RUNS_CODE: readonly Rule[] = [
  { pattern: /(^|\/)\.git\/(hooks|info|modules)(\/|$)/, reason: "git runs or obeys what is in this folder" },
  { pattern: /(^|\/)\.git$/, reason: "it decides where git looks for its configuration" },
  { pattern: /(^|\/)\.(gitconfig|gitmodules)$/, reason: "git runs commands named in this file" },
  {
    pattern: /(^|\/)\.(bash(rc|_profile|_login|_logout)|z(shrc|profile|shenv|login|logout)|profile|inputrc)$/,
    reason: "a shell runs this file",
  },
  { pattern: /(^|\/)\.(ripgreprc|envrc|mcp\.json)$/, reason: "programs obey or run what is in this file" },
  { pattern: /(^|\/)\.(vscode|idea|devcontainer|husky)(\/|$)/, reason: "development tools run what is in this folder" },
  {
    pattern:
      /(^|\/)\.(oxbow|claude|codex|cursor|gemini)\/(commands|agents|skills|hooks|hooks\.d|plugins|profiles|rules)(\/|$)/,
    reason: "agents obey what is in this folder",
  },
  {
    pattern: /(^|\/)\.(oxbow|claude|codex|cursor|gemini)\/[^/]*\.(json|toml|ya?ml)$/,
    reason: "it configures an agent",
  },
];

/** The reason to ask before this access, or undefined. `path` is relative to the workspace, with forward slashes. */
export function protection(path: string, access: Access): string | undefined {
  const plain = path.split("/").map(plainName).join("/");
  const rules = access === "read" ? SECRET : [...RUNS_CODE, ...SECRET];
  return rules.find((rule) => rule.pattern.test(plain))?.reason;
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

function plainName(name: string): string {
  const folded = name
    .normalize("NFKC")
    .replace(INVISIBLE, "")
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "")
    .toLowerCase();
  return folded === "git~1" ? ".git" : folded;
}
