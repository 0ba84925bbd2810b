/**
 * Recognises in a failed command's output what the sandbox denied, and tells the model in one line: what was denied and
 * that only the user can allow more. It never says how to switch off the sandbox.
 */
import { describeRefusal, type GateEntrance } from "../allowed-hosts/network-gate.js";
import type { SandboxState } from "./state.js";

interface Denial {
  readonly pattern: RegExp;
  readonly text: (match: RegExpExecArray) => string;
  /** What the command itself can do about it. */
  readonly advice?: string;
  /** It is about a command without the network of the machine. */
  readonly isOffline?: true;
}

const ASK = "If you need it, ask the user to let this command run outside the sandbox.";

const DENIALS: readonly Denial[] = [
  {
    pattern: /network: (\S+) was refused by the sandbox/,
    text: ([, host]) => `the sandbox blocks ${host}`,
  },
  {
    pattern:
      /(?:fork|clone|vfork)\b.*(?:Resource temporarily unavailable|EAGAIN)|spawn \S+ EAGAIN|can't start new thread/i,
    text: () => "the sandbox allows no more processes at one time",
    advice: "Run fewer at once.",
  },
  {
    pattern: /Cannot allocate memory|ENOMEM|MemoryError|std::bad_alloc|heap out of memory|out of memory/i,
    text: () => "the sandbox limits the memory of a process",
    advice: "Use less of it.",
  },
  {
    pattern: /File size limit exceeded|File too large|EFBIG/i,
    text: () => "the sandbox limits the size of a file",
    advice: "Write less.",
  },
  {
    pattern: /['"`‘]?((?:\/tmp|\/dev\/shm|\/run)[^'"`’:\s]*)['"`’]?: No space left on device/,
    text: ([, path]) => `the sandbox's own folder for ${path} is full`,
    advice: "Put large files into the workspace.",
  },
  {
    // The second one is Python's, the third one git's.
    pattern:
      /(?:EROFS: read-only file system, \w+|\[Errno 30\] Read-only file system:) '([^']+)'|'([^']+)' mode \d+: Read-only file system/i,
    text: ([, path, other = ""]) => readOnly(path ?? other),
  },
  {
    pattern: /['"`‘]?([^\s'"`‘’]*[^\s'"`‘’:])['"`’]?: Read-only file system/i,
    text: ([, path = ""]) => readOnly(path),
  },
  {
    pattern: /['"`‘]?([^\s'"`‘’]*\.(?:git|oxbow)(?:\/[^\s'"`‘’:]*)?)['"`’]?: Permission denied/i,
    text: ([, path = ""]) => readOnly(path),
  },
  {
    pattern: /Read-only file system|EROFS/i,
    text: () =>
      "the sandbox makes everything outside the workspace read-only, and inside it .git/hooks, .git/config and .oxbow",
  },
  {
    pattern:
      /(\S*\.(?:git|oxbow)\S*)['"`’]?: Device or resource busy|EBUSY: resource busy or locked, \w+ '([^']*\.(?:git|oxbow)[^']*)'/i,
    text: ([, first, second]) =>
      `the sandbox keeps ${(first ?? second ?? "it").replace(/^['"`‘]/, "")} from being replaced`,
  },
  {
    pattern:
      /(?:127\.0\.0\.1|localhost|::1)\S*.*(?:Connection refused|ECONNREFUSED)|ECONNREFUSED (?:127\.0\.0\.1|::1)|connect to (?:127\.0\.0\.1|localhost).*refused/i,
    isOffline: true,
    text: () => "commands reach no server of this machine, only those that commands of this session have started",
    advice: "Start it with run_in_background. A command with allowed hosts has a network of its own.",
  },
  {
    pattern:
      /Could not resolve (?:host|proxy)|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|Temporary failure in name resolution|Name or service not known|Network is unreachable|ENETUNREACH|network is unreachable|dial tcp: lookup|nodename nor servname provided/i,
    isOffline: true,
    text: () => "the sandbox has no network",
    advice: "If you need it, set allow = network, which asks the user.",
  },
  {
    pattern:
      /Address family not supported|EAFNOSUPPORT|Unable to establish loopback connection|\.sock(?:et)?\b.*(?:EPERM|Operation not permitted)/i,
    text: () => "the sandbox has no Unix sockets, which would reach programs outside",
    advice: `Use a port of 127.0.0.1 (tsx: run node --import tsx), or set allow = unix_sockets, which asks the user.`,
  },
  {
    pattern: /no new privileges|sudo: .*(?:setuid|owned by uid 0)|must be run as root/i,
    text: () => "the sandbox grants no extra privileges",
  },
  {
    pattern:
      /(?:mount|unshare|ptrace|chroot|bwrap|newuidmap|keyctl)\b.*(?:Operation not permitted|EPERM|Permission denied)/i,
    text: () => "the sandbox does not allow this system call",
  },
];

const HIDDEN = /['"`‘]?((?:~|\/)[^\s'"`‘’:]*)['"`’]?: Permission denied|EACCES: permission denied, \w+ '([^']+)'/i;

const MISSING =
  /['"`‘]?((?:~|\/)[^\s'"`‘’:]*)['"`’]?: No such file or directory|ENOENT: no such file or directory, \w+ '([^']+)'/i;
const GIT_PLACE = /(^|[\s'"`‘/])\.git(\/|['"`’:]|$)/m;
const ASK_FOR_SECRETS = "If you need it, set allow = secrets, which asks the user.";
const ASK_FOR_GIT = "If you need it, set allow = git, which asks the user.";

export interface ExplainOptions {
  /** The home folder, if the sandbox replaces it. */
  readonly home?: string | undefined;
  /** All that belongs to git is read-only. */
  readonly repositories?: "guarded" | "read-only" | undefined;
  /** The command has the network of the machine. */
  readonly isOnline?: boolean;
  /** Secret files of the workspace that the sandbox covers, relative to it. */
  readonly secrets?: readonly string[];
  /** Folders the sandbox hides: it causes each "permission denied" in them. */
  readonly hidden?: readonly string[];
}

/** The hint for the model; undefined when the sandbox does not seem to be the cause. */
export function explainFailure(
  outcomeText: string,
  state: SandboxState,
  { hidden = [], secrets = [], home, repositories, isOnline = false }: ExplainOptions = {},
): string | undefined {
  if (state.kind === "none") return undefined;
  const lines = shortened(outcomeText);
  const secret = secretIn(lines, secrets);
  if (secret !== undefined) return `[The sandbox hides ${secret}: it can hold secrets. ${ASK_FOR_SECRETS}]`;
  for (const { pattern, text, advice, isOffline = false } of DENIALS) {
    const match = isOffline && isOnline ? null : pattern.exec(lines);
    if (match === null) continue;
    const isGit = repositories === "read-only" && GIT_PLACE.test(match[0]);
    return `[${capital(text(match))}. ${advice ?? (isGit ? ASK_FOR_GIT : ASK)}]`;
  }
  const denied = HIDDEN.exec(lines);
  const path = denied?.[1] ?? denied?.[2];
  if (path !== undefined && hidden.some((folder) => path === folder || path.startsWith(`${folder}/`))) {
    return `[The sandbox hides ${path}: it can hold secrets. ${ASK}]`;
  }
  const missing = MISSING.exec(lines);
  const absent = missing?.[1] ?? missing?.[2];
  if (home !== undefined && absent !== undefined && (absent.startsWith(`${home}/`) || absent.startsWith("~"))) {
    return `[The sandbox hides the home folder, except tool chains, so commands cannot see ${absent}. ${ASK}]`;
  }
  return undefined;
}

/** Matches what programs print that do not find a value or a key. */
const MISSING_VALUE =
  /environment variable|\benv vars?\b|dotenv|process\.env|os\.environ|\bKeyError\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b.{0,40}\b(?:required|missing|undefined|not set|not defined|unset|empty)\b|(?:required|missing|undefined|unset|no) .{0,40}\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|unbound variable|PEM|private key/;

/** A covered file that the output is about. */
function secretIn(lines: string, secrets: readonly string[]): string | undefined {
  const [first] = secrets;
  if (first === undefined) return undefined;
  const named = secrets.find((path) => new RegExp(`(^|[\\s'"\`‘/])${escaped(path)}($|[\\s'"\`’:,])`, "m").test(lines));
  return named ?? (MISSING_VALUE.test(lines) ? first : undefined);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

const LINE_LENGTH = 400;

/** Patterns over words take long on a line without blanks, and the error is at the end of it. */
function shortened(text: string): string {
  return text
    .split("\n")
    .map((line) => line.slice(-LINE_LENGTH))
    .join("\n");
}

function readOnly(path: string): string {
  const isGuarded = /(^|\/)\.(git|oxbow)(\/|$)/.test(path);
  return `the sandbox keeps ${path} read-only${isGuarded ? ": programs outside the sandbox run or read it" : ""}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Tells the model what it should know about the failure of a command: refused hosts first. */
export function explainCommand(
  text: string,
  {
    state,
    entrance,
    ...place
  }: ExplainOptions & { readonly state: SandboxState; readonly entrance: GateEntrance | undefined },
): string | undefined {
  const refused = entrance?.refusals().map(describeRefusal) ?? [];
  const hint = explainFailure([text, ...refused].join("\n"), state, place);
  const lines = [...refused.map((line) => `[${line}]`), ...(hint === undefined ? [] : [hint])];
  return lines.length === 0 ? undefined : lines.join("\n");
}
