/**
 * Failures of a turn or a command. Programs read the reason, people read the text. This table holds both.
 * A failure's fields fill the `<name>` places in its text.
 */
import type { ClientId } from "./ids.js";

const TEXTS = {
  // Control plane
  HandshakeRequired: "Send the handshake before any command. docs/protocol.md describes it.",
  Unauthorized: "A valid token is needed: <detail>",
  Forbidden: "The token does not allow this: <detail>",
  NotFound: "<detail>",
  TooLarge: "<what> is larger than <limit>.",
  TooManyRequests: "Too many requests. Try again in <seconds> s.",
  ShuttingDown: "The engine is shutting down and takes no more commands. Start it again, then resume the session.",
  AlreadyAnswered: "<client> has answered this question already: <decision>.",
  HandshakeVersionMismatch:
    "Client speaks protocol <client_ver>; server speaks <server_ver>. Upgrade <client_or_server>.",
  TurnInProgress:
    "Another client is sending input to this session (started by <originator> at <ts>). Wait, or send /cancel to interrupt.",
  SessionNotFound: "There is no session <session>. 'oxbow session list' lists the sessions of this folder.",
  SessionNotSaved:
    "Oxbow cannot save the session: <detail> It ran nothing more. The conversation so far stays in memory until Oxbow exits. To continue without saving, use '--store none'.",
  SessionLeased:
    "<detail> Join it with --attach if 'oxbow status' lists it, wait for it with --wait TIME, or continue in a copy: oxbow session branch <session>.",
  SessionTakenOver:
    "Another process took over this session: <detail> This process can no longer write to it and ran nothing more. Resume the session to see what the other process did (oxbow run --resume ID), or continue in a copy (oxbow session branch ID).",
  SessionUnreadable: "Oxbow cannot read session <session>: <detail>",
  OrphanedCalls:
    "The session ended while <calls>. The result is unknown, so Oxbow does not run it again. Check what happened, then resume with --orphan failed, --orphan succeeded or --orphan abort.",
  SessionAborted: "You ended session <session>. Nothing ran.",
  TokenExpired: "The token expired at <exp>. Ask the person who made it for a new one.",
  TokenRevoked: "The token <jti> was revoked at <ts>. Ask the person who made it for a new one.",

  // Permissions and trust
  PermissionDenied: "<tool> was denied by <client>. <advice>",
  PermissionTimeout:
    "<tool> was denied automatically after <timeout> s without an answer. To wait longer, raise permission_timeout in the profile.",
  PermissionUnanswerable: "<tool> needs permission, and there is no terminal to ask on: <about>. To continue, <how>.",
  NonInteractiveAckRefused:
    "<what> There is no terminal to ask on. Run 'oxbow ack' once on a terminal. For CI run 'oxbow ack --emit-lockfile approved.lock' there, commit the file, and set OXBOW_APPROVED_LOCK=approved.lock.",

  // Extensions
  MCPServerSHA256Mismatch:
    "MCP server '<name>' refused to start: <path> changed since it was approved. Expected sha256 <expected>, found <actual>. If the change is wanted, run /mcp approve <name>, or update the pin in <profile_path>.",
  MCPServerUnavailable:
    "MCP server '<name>' is down after <attempts> restart attempts: <detail>. Its tools are unavailable. /mcp restart <name> tries again.",
  HookHashChanged: "<path> changed since you approved it. 'oxbow ack' shows the change and approves it.",
  HookTimeout: "The hook <cmd> (<event>) took longer than <timeout> s, so Oxbow stopped it.",

  // Tools
  BashCancelledMidCommand:
    "Stopped after <duration>. It wrote into the workspace directly, so it may have changed files: look at them, with 'git status' for example.",

  // Models
  RateLimited:
    "Provider <name> rate-limited the request. Retrying in <retry-after>s… (Ctrl-C to cancel, /model to switch).",
  CredentialHelperFailed: "The credential helper crashed twice. Run 'oxbow doctor', then start Oxbow again.",
  CredentialsUnavailable: "Oxbow cannot use the stored key for <name>: <detail>",
  SignedOut: "The sign-in for <name> has expired. Sign in again: oxbow auth set <name>",
  NoModel: "No model: <detail>",
  AuthFailed: "<name> refused <what> (<detail>). Check <key_name>, then run 'oxbow doctor'.",
  QuotaExceeded:
    "<name> says the account has no credit or quota left: <detail> Top it up, or choose another model with --model.",
  ModelNotFound: "<name> has no model '<model>'. 'oxbow models <name>' lists its models<more>.",
  ContextTooLong:
    "The conversation does not fit in the context window of <model>: <detail> Shorten it (/compact), start a new one (/clear), or choose a model with a larger window (--model).",
  ContentRefused: "<name> refused to answer: <detail>",
  Overloaded: "<name> is overloaded (<detail>). Try again later, or choose another model with --model.",
  BadRequest: "<name> rejected the request (HTTP <status>): <detail>",
  ProviderFailed: "<name> failed: <detail>",
  NetworkFailed: "Could not reach <name> at <url>: <detail>. <hint>",
  StreamInterrupted: "<name> closed the connection in the middle of its answer. Try again.",
  MalformedResponse: "<name> at <url> sent a response that Oxbow cannot read: <detail>. Check the base URL.",
  AnswerTooLong:
    "Stopped: the answer of <name> is longer than <limit>. To allow longer answers, raise max_answer_chars in the profile.",
  AnswersCut:
    "Stopped: <name> reached the output limit<limit> twice in the middle of a tool call. Ask for smaller steps, or raise max_output_tokens in the profile.",
  RepeatedCall:
    "Stopped: the model called <tool> again, after the same call had the same result <times> times. Say what it should do differently.",
  ImageNotAccepted: "<model> cannot read the image: <detail>",
  AudioNotAccepted: "<model> cannot hear the audio: <detail>",
  CassetteMismatch:
    "The request differs from the one in the cassette <file>: <detail>. If you want the change, record the cassette again.",

  CallNotRecorded:
    "Stopped where this run and <session> diverge: the model called <call>, and there is no result of such a call left (<instead>). Without --recorded, tools run in a worktree.",

  // The run
  StoppedByHook: "The hook <hook> stopped the turn: <detail>",
  Interrupted: "Oxbow stopped in the middle of this turn.",
  Timeout: "Stopped: the turn reached its time limit of <timeout>. Raise it with --timeout.",
  IterationLimit: "Stopped: the turn reached its limit of <limit> model calls. Raise it with --max-iterations.",
  BudgetReached: "Stopped by the budget of <scope>, <limit>: <detail>. Raise it with <how>.",
  InvalidInput: "<detail>",
  ConfigurationInvalid: "<detail>",
  Internal: "A bug in Oxbow stopped this turn: <detail>. You can continue the session; the log has the details.",
} as const;

export type BuiltInReason = keyof typeof TEXTS;
/** Plugins define their own reasons as `Custom:<namespace>:<code>`; their text travels in `message`. */
export type FailureReason = BuiltInReason | `Custom:${string}:${string}`;

export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** The same call may succeed later without a change. */
  readonly retryable?: boolean;
  readonly status?: number;
  readonly retry_after_ms?: number;
  /** Of TurnInProgress: the client whose turn runs. */
  readonly originator?: ClientId;
  /** Of AlreadyAnswered: the client, rule or time limit that decided. */
  readonly decided_by?: string;
  /** The number of attempts, set when retrying has ended. */
  readonly attempts?: number;
}

export const FAILURE_REASONS = Object.keys(TEXTS) as readonly BuiltInReason[];

const LIMITS: ReadonlySet<string> = new Set<BuiltInReason>(["Timeout", "IterationLimit", "BudgetReached"]);

/** Reaching a limit is an outcome of its own, not a fault. */
export function isLimit(reason: FailureReason): boolean {
  return LIMITS.has(reason);
}

export function isBuiltInReason(reason: string): reason is BuiltInReason {
  return Object.hasOwn(TEXTS, reason);
}

export type FailureFields = Readonly<Record<string, string | number>>;
export type FailureTraits = Omit<Failure, "reason" | "message">;

export function failure(reason: BuiltInReason, fields: FailureFields = {}, traits: FailureTraits = {}): Failure {
  return { reason, message: fill(TEXTS[reason], fields), ...traits };
}

/** The final failure after the last attempt. It replaces a message that promises a retry, and says what the user can do. */
export function gaveUp(last: Failure, effort: { readonly name: string; readonly attempts: number }): Failure {
  const { attempts } = effort;
  const tried = attempts === 1 ? "" : ` (${attempts} attempts)`;
  if (last.reason !== "RateLimited") return { ...last, message: `${last.message}${tried}`, attempts };
  const wait = last.retry_after_ms === undefined ? "later" : `in ${humanWait(last.retry_after_ms)}`;
  const message = `${effort.name} is rate-limiting requests${tried}. Try again ${wait}, or choose another model with --model.`;
  return { ...last, message, attempts };
}

/** `12 s`, `5 min`, `3 h`, rounded up. */
export function humanWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

function fill(template: string, fields: FailureFields): string {
  return template.replace(/<([a-z_-]+)>(\.?)/gi, (whole, name: string, end: string) => {
    const value = fields[name];
    if (value === undefined) return whole;
    // A detail may be a whole sentence.
    return /[.!?…]$/.test(String(value)) ? String(value) : `${value}${end}`;
  });
}
