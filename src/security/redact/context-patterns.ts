/**
 * Secrets recognised by their context: headers, addresses, command lines, settings of tools.
 *
 * 1. Each `pattern` names what is hidden `secret`; nothing else of the match is touched.
 * 2. `trigger` matches at or before the word that holds the secret, whenever `pattern` does; it begins with one of `grams` (grams.ts).
 */
import { isStandIn, looksLikeKey, looksLikePassword, looksRandom, variety } from "./looks-random.js";

export interface ContextPattern {
  readonly kind: string;
  readonly grams: readonly string[];
  readonly trigger: string;
  readonly pattern: RegExp;
  accept(secret: string, groups: Readonly<Record<string, string | undefined>>): boolean;
}

const EASY_PASSWORD =
  /^(?:my|your|the)?_?(?:password|passwd|secret|pwd|token|username|user)$|^replace|^your|^x+$|^\d{1,4}$/i;

/** The name of an option that takes a secret: `--api-key`, `-Password`. */
const FLAG =
  "(?<flag>(?:[a-z0-9]{1,20}[-_]){0,4}(?:passw(?:or)?d|passphrase|pwd|token|secret|api-?key|access-?key|auth-?key|secret-?key|private-?key|authtoken|pat))";

function isHidden(value: string): boolean {
  return !isStandIn(value) && variety(value) >= 4;
}

export const CONTEXT_PATTERNS: readonly ContextPattern[] = [
  {
    kind: "authorization",
    grams: ["auth", "^x-@", "priv", "apik", "api-", "-cru"],
    trigger: "authorization|x-[a-z0-9-]{0,40}(?:token|key|secret|auth)|api-?key|private-token|-crumb",
    pattern:
      /(?:authorization|\bx-[a-z0-9-]{0,40}(?:token|key|secret|auth)|apikey|api-key|private-token|jenkins-crumb)["'\]]{0,2}\s{0,3}[:=,]\s{0,4}["'`]?(?:(?!basic\s)[a-z][a-z-]{2,20}\s{1,3}(?:token=["']?)?)?(?<secret>[A-Za-z0-9+/_.~=-]{8,4000})/dgi,
    accept: (secret) =>
      isHidden(secret) &&
      /\d|[A-Z].*[A-Z].*[a-z]|=$/.test(secret) &&
      !/^(?:process|config|this|self|req|request|headers|options|env)\./.test(secret) &&
      (looksRandom(secret) || /^[0-9a-f-]{20,}$/.test(secret) || /^.{15,}=$/.test(secret)),
  },
  {
    kind: "bearer",
    grams: ["bear"],
    trigger: "bearer",
    pattern: /\bbearer[ :]{1,3}(?<secret>[A-Za-z0-9+/_.~-]{16,4000}={0,2})/dgi,
    accept: (secret) => isHidden(secret) && looksRandom(secret),
  },
  {
    kind: "basic",
    grams: ["basi"],
    trigger: "basic",
    pattern: /\bbasic[ :]{1,3}(?<secret>[A-Za-z0-9+/]{8,2000}={0,2})(?![A-Za-z0-9._-])/dgi,
    accept: (secret) => isHidden(secret) && (secret.endsWith("=") || looksRandom(secret)) && secret.length % 4 === 0,
  },
  {
    kind: "url-password",
    grams: ["://?"],
    trigger: "://[^\\s/:@\"'`<>]{0,200}:[^\\s\"'`<>]{1,300}@",
    pattern:
      /\b(?<scheme>[a-z][a-z0-9+.-]{1,20}):\/\/(?<user>[^\s/:@"'`<>]{0,200}):(?<secret>[^\s"'`<>/]{1,300})@[A-Za-z0-9[_$({-]/dgi,
    accept: (secret, { scheme = "", user = "" }) => {
      if (
        /\$[{(\w]|\{\{|^[{([<].*[\])}>]$|%s|\*{3}|^x{3,}$/i.test(secret) ||
        EASY_PASSWORD.test(secret) ||
        secret === user
      )
        return false;
      if (/^x-oauth-basic$/i.test(secret)) return false;
      const least = /^(?:https?|s?ftps?|ssh|git\+https?)$/i.test(scheme) ? 4 : 5;
      return secret.length >= least && variety(secret) >= 3;
    },
  },
  {
    kind: "url-password",
    grams: ["://?"],
    trigger: "://[^\\s/:@\"'`<>]{20,200}(?::x-oauth-basic)?@",
    pattern: /:\/\/(?<secret>[A-Za-z0-9_-]{20,200})(?::x-oauth-basic)?@[A-Za-z0-9]/dg,
    accept: (secret) =>
      variety(secret) >= 6 &&
      /\d/.test(secret) &&
      !/x{4}/i.test(secret) &&
      (looksRandom(secret) || /^[0-9a-z]{32,}$/.test(secret)),
  },
  {
    kind: "command-password",
    grams: ["--us", "^-u^", "curl"],
    trigger: "--user|-u\\s|curl\\b",
    pattern:
      /(?:\bcurl\b(?:(?!\bcurl\b)[^\n]){0,2000}?\s|^[ \t#]*)(?:-u|--user)[ \t=]{1,4}(?<secret>"[^"\s]{0,200}":"[^"\s]{1,200}"|"[^"\s]{1,200}"|'[^'\s]{1,200}'|[^\s:"']{1,100}:'[^'\s]{1,200}'|[^\s"']{1,200})/dgm,
    accept: (secret) => isCommandPassword(secret),
  },
  {
    kind: "npm",
    grams: ["_aut", "_pas"],
    trigger: "_auth|_password",
    pattern:
      /(?<=^|[:\s"'])_(?:authToken|auth|password)\s{0,3}=\s{0,3}["']?(?<secret>[A-Za-z0-9+/_.=-]{16,400})(?![(.[])/dgm,
    accept: (secret) => !/x{6,}/i.test(secret) && variety(secret) > 1 && /\d/.test(secret),
  },
  {
    kind: "connection-password",
    grams: ["pass", "pwd^"],
    trigger: "password\\s{0,2}=|pwd\\s{0,2}=",
    pattern:
      /(?:(?:^|[;"'\s])(?:password|pwd)=(?=[^\s"'`<>&]{4,200};)|;\s{0,2}(?:password|pwd)\s{0,2}=\s{0,2})(?<secret>[^\s;"'`<>&]{4,200})/dgi,
    accept: (secret) => isHidden(secret) && !EASY_PASSWORD.test(secret),
  },
  {
    kind: "config-password",
    grams: ["<add"],
    trigger: "<add",
    pattern: /<add\s{1,4}key="[^"\n]{0,100}password"\s{1,4}value="(?<secret>[^"\n]{4,400})"/dgi,
    accept: (secret) => !/^[%$].*|^[*x]+$/i.test(secret),
  },
  {
    kind: "sidekiq",
    grams: ["bund"],
    trigger: "BUNDLE_(?:ENTERPRISE|GEMS)__",
    pattern:
      /BUNDLE_(?:ENTERPRISE|GEMS)__CONTRIBSYS__COM\w{0,20}["']{0,2}\s{0,3}(?::=|\?=|=|:|,)\s{0,3}["'`]?(?<secret>[a-f0-9]{8}:[a-f0-9]{8})/dgi,
    accept: () => true,
  },
  {
    kind: "netrc-password",
    grams: ["mach"],
    trigger: "machine",
    pattern: /\bmachine\s{1,4}\S{1,200}\s{1,4}login\s{1,4}\S{1,200}\s{1,4}password\s{1,4}(?<secret>\S{4,400})/dg,
    accept: (secret) => isHidden(secret) && !/[{}$]/.test(secret),
  },
  {
    kind: "command-secret",
    grams: ["pass", "pwd^", "toke", "secr", "api-", "apik", "acce", "auth", "priv", "-pat"],
    trigger:
      "(?:passw(?:or)?d|passphrase|pwd|token|secret|(?:api|access|auth|private)-?key|authtoken|-pat)[\"']?[ \\t,]",
    pattern: new RegExp(
      `(?<=^|[\\s"'\`,(\\[])-{1,2}${FLAG}["']?[ \\t,]{1,4}["']?(?<secret>[^\\s"'\`<>]{6,1000})`,
      "dgim",
    ),
    accept: (secret, { flag = "" }) =>
      !isStandIn(secret) &&
      !/^[-$/{%@]/.test(secret) &&
      (/pass|pwd/i.test(flag) ? looksLikePassword(secret) : looksLikeKey(secret)),
  },
  {
    kind: "command-password",
    grams: ["sshp", "mysq", "mari", "^red", "dock", "podm", "psex"],
    trigger: "(?:sshpass|mysql|mariadb|redis-cli|docker|podman|psexec)",
    pattern:
      /\b(?:sshpass[ \t]{1,3}-p[ \t]?|(?:mysql|mariadb)(?:dump|admin)?\b[^\n|;&]{0,300}?[ \t]-p|redis-cli\b[^\n|;&]{0,300}?[ \t]-a[ \t]{1,3}|(?:docker|podman)[ \t]{1,3}login\b[^\n|;&]{0,300}?[ \t]-p[ \t]{1,3}|psexec(?:\.exe)?\b[^\n|;&]{0,300}?[ \t]-p[ \t]{1,3})["']?(?<secret>[^\s"'`<>$]{5,200})/dgi,
    accept: (secret) => !isStandIn(secret) && looksLikePassword(secret),
  },
  {
    kind: "spoken-password",
    grams: ["pass"],
    trigger: "passw",
    pattern:
      /(?:\bpassw(?:or)?d(?:[ \t]{1,3}(?:is|was|to|=|==|:)){1,2}[ \t]{0,3}:?[ \t]{0,3}["'`]?|^[ \t]{0,20}password[ \t]{1,8}["']?)(?<secret>[^\s"'`<>,;]{6,200})/dgim,
    accept: (secret) => !isStandIn(secret) && looksLikePassword(secret) && !/[.:)]$/.test(secret.replace(/\.$/, "")),
  },
  {
    kind: "spoken-secret",
    grams: ["secr", "toke", "key^"],
    trigger: "(?:secret|token|key)(?:[ \\t]{1,3}(?:is|was))?[ \\t]{1,3}[\"'`]?[A-Za-z0-9+/_=-]{20}",
    pattern:
      /(?:secret|token|(?:api|access|auth|private|secret|deploy|license)[ _-]?key)(?:[ \t]{1,3}(?:is|was))?[ \t]{1,3}["'`]?(?<secret>[A-Za-z0-9+/_=-]{20,400})(?![\w.(/=-])/dgi,
    accept: (secret) => !isStandIn(secret) && looksLikeKey(secret) && !/[a-z]{6}[A-Z_-]/.test(secret),
  },
  {
    kind: "call-password",
    grams: ["netw", "dire", "conv"],
    trigger: "NetworkCredential|DirectoryEntry|ConvertTo-SecureString",
    pattern:
      /\b(?:NetworkCredential\(\s{0,3}["'][^"'\n]{1,200}["']\s{0,3},|DirectoryEntry\(\s{0,3}["'][^"'\n]{1,200}["']\s{0,3},\s{0,3}["'][^"'\n]{1,200}["']\s{0,3},|ConvertTo-SecureString(?:\s{1,3}-String)?)\s{0,3}["'](?<secret>[^"'\s]{6,200})["']/dgi,
    accept: (secret) => !isStandIn(secret) && variety(secret) >= 5,
  },
  {
    kind: "cookie",
    grams: ["sess", "^sid", "^sec", "^jwt", "^aut", "cook"],
    trigger: "cookie|sess|sid=|secure|jwt|auth",
    pattern:
      /\bcookie["']?\s{0,3}[:=]\s{0,3}(?:(?!\bcookie["']?\s{0,3}[:=])[^\n]){0,2000}?\b(?:[\w.-]{0,40}(?:sess(?:ion)?(?:_?id)?|sid|auth|jwt|token)|(?:PHP|J)SESSIONID)=(?<secret>[A-Za-z0-9%+/_.:~-]{16,4000})/dgi,
    accept: (secret) => !isStandIn(secret) && looksRandom(secret),
  },
  {
    kind: "wallet-key",
    grams: ["^0x@"],
    trigger: "0x[0-9a-fA-F]{64}",
    pattern: /(?:private|secret|key|wallet|accounts|signer|deployer)[^\n]{0,60}\b0x(?<secret>[0-9a-fA-F]{64})\b/dgi,
    accept: (secret) => variety(secret) >= 8,
  },
];

function isCommandPassword(value: string): boolean {
  const plain = value.replace(/["']/g, "");
  const colon = plain.indexOf(":");
  if (colon === -1 || /[<>]|\$[\w{(]|^\{\{|\[[A-Z_]+\]/.test(plain.replace(/\$\d/g, ""))) return false;
  const parts = [plain.slice(0, colon), plain.slice(colon + 1)];
  return parts.some(
    (part) =>
      part.length >= 7 &&
      variety(part) >= 5 &&
      /[\d!@#$%^&*~]|[a-z][A-Z]{2}|[A-Z]{2}[a-z]/.test(part) &&
      !EASY_PASSWORD.test(part),
  );
}
