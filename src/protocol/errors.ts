/**
 * Failures of a turn or a command (feature O5). The reason is the wire contract, the text is the user contract; both live in
 * this one table. `<name>` in a text is filled from the failure's fields.
 */
const TEXTS = {
  // Control plane
  HandshakeRequired: "Send the handshake before any command. docs/protocol.md describes it.",
  HandshakeVersionMismatch:
    "Client speaks protocol <client_ver>; server speaks <server_ver>. Upgrade <client_or_server>.",
  TurnInProgress:
    "Another client is sending input to this session (started by <originator> at <ts>). Wait, or send /cancel to interrupt.",
  SessionNotFound: "There is no session <session>. 'oxbow session list' shows what there is.",
  SessionNotSaved:
    "The session cannot be saved: <detail> Nothing more was run. What happened so far is kept in memory until Oxbow ends; '--store none' goes on without saving.",
  SessionLeased: "<detail> Wait for it with --wait TIME, or continue in a copy: oxbow session branch <session>.",
  SessionTakenOver:
    "Another process has continued this session: <detail> This process can write to it no more, and nothing more was run. Resume it to see what the other one did (oxbow run --resume ID), or continue in a copy (oxbow session branch ID).",
  SessionUnreadable: "Session <session> cannot be read: <detail>",
  OrphanedCalls:
    "The session ended while <calls>. Nobody saw how that ended, so it is not run again. Look, then resume with --orphan failed, --orphan succeeded or --orphan abort.",
  SessionAborted: "Session <session> was ended as you asked. Nothing was run.",
  TokenExpired: "The capability token expired at <exp>. Ask for a new one where this one came from.",
  TokenRevoked: "The token <jti> was revoked at <ts>. Ask for a new one where this one came from.",

  // Permissions and trust
  PermissionDenied:
    "<tool> was denied by <client>. To allow it, ask again and answer with yes, or add a rule to the profile.",
  PermissionTimeout:
    "<tool> needed a permission, and no answer came within <timeout> s: it was not run. permission_timeout in the profile waits longer.",
  PermissionUnanswerable: "<tool> needed a permission and nobody was there to give it: <about>. To go on, <how>.",
  NonInteractiveAckRefused:
    "Refusing to silently approve an unseen <kind> in non-interactive mode. Run oxbow ack once on a terminal, or give a lock file with OXBOW_APPROVED_LOCK.",

  // Extensions
  MCPServerSHA256Mismatch:
    "MCP server '<name>' refused to start: the binary at <path> changed. Expected sha256 <expected>, found <actual>. If the change is wanted, update the pin in <profile_path>.",
  MCPServerUnavailable:
    "MCP server '<name>' is down after <attempts> attempts to start it, and its tools cannot be used. The log in <log_dir> says why.",
  HookHashChanged: "<path> changed since you approved it. 'oxbow ack' shows the change and approves it.",
  HookTimeout: "Hook '<event>' command '<cmd>' exceeded its <timeout>s deadline. Killed.",

  // Tools
  BashCancelledMidCommand:
    "The command was cancelled after <duration>, in the middle of its work. Files that changed meanwhile: <list>. 'oxbow session diff <session>' shows how, '/undo' takes it back.",

  // Models
  RateLimited:
    "Provider <name> rate-limited the request. Retrying in <retry-after>s… (Ctrl-C to cancel, /model to switch).",
  CredentialHelperFailed: "The credential helper stopped twice. Run 'oxbow doctor', then start again.",
  CredentialsUnavailable: "The stored key for <name> cannot be used: <detail>",
  SignedOut: "The sign-in for <name> has ended. Sign in again: oxbow auth set <name>",
  NoModel: "No model: <detail>",
  AuthFailed: "<name> refused <what> (<detail>). Check <key_name>, then run 'oxbow doctor'.",
  QuotaExceeded:
    "<name> says the account has no credit or quota left: <detail> Top it up, or choose another model with --model.",
  ModelNotFound: "<name> has no model '<model>'. 'oxbow models <name>' lists what there is<more>.",
  ContextTooLong:
    "The conversation is longer than <model> can read: <detail> Shorten it (/compact), begin a new one (/clear), or choose a model that reads more (--model).",
  ContentRefused: "<name> refused to answer: <detail>",
  Overloaded: "<name> is overloaded (<detail>). Try again shortly, or choose another model with --model.",
  BadRequest: "<name> did not accept the request (HTTP <status>): <detail>",
  ProviderFailed: "<name> failed: <detail>",
  NetworkFailed: "Could not reach <name> at <url>: <detail>. <hint>",
  StreamInterrupted: "<name> closed the connection in the middle of its answer. Run it again.",
  MalformedResponse: "<name> at <url> sent something that is not a model's answer: <detail>. Check the base URL.",
  AnswerTooLong:
    "Stopped: the answer of <name> is longer than <limit>. If that is wanted, raise max_answer_chars in the profile.",
  ImageNotAccepted: "<model> cannot be given the image: <detail>",
  CassetteMismatch:
    "The request is not the one on the cassette <file>: <detail>. Record it again if the change is wanted.",

  // The run
  StoppedByHook: "The hook <hook> stopped the turn: <detail>",
  Interrupted: "The program was stopped in the middle of this turn.",
  Timeout: "Stopped after <timeout>: the time limit was reached. Raise it with --timeout.",
  IterationLimit: "Stopped after <limit> model calls: the limit was reached. Raise it with --max-iterations.",
  BudgetReached: "Stopped by the budget of <scope>, <limit>: <detail>. Raise it with <how>.",
  InvalidInput: "<detail>",
  ConfigurationInvalid: "<detail>",
  Internal: "A fault in Oxbow itself stopped this turn: <detail>. The session goes on; the log has the details.",
} as const;

export type BuiltInReason = keyof typeof TEXTS;
/** Plugins bring their own reasons as `Custom:<namespace>:<code>`; their text travels in `message`. */
export type FailureReason = BuiltInReason | `Custom:${string}:${string}`;

export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
  /** The same call may succeed later without a change. */
  readonly retryable?: boolean;
  readonly status?: number;
  readonly retry_after_ms?: number;
  /** How often it was tried, once nobody tries any more. */
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

/** Nobody tries again: what is left to the user. A promise to try again, in a message, is taken back. */
export function gaveUp(last: Failure, effort: { readonly name: string; readonly attempts: number }): Failure {
  const { attempts } = effort;
  const tried = attempts === 1 ? "" : ` (${attempts} attempts)`;
  if (last.reason !== "RateLimited") return { ...last, message: `${last.message}${tried}`, attempts };
  const wait = last.retry_after_ms === undefined ? "later" : `in ${humanWait(last.retry_after_ms)}`;
  const message = `${effort.name} limits the rate${tried}. Try again ${wait}, or choose another model with --model.`;
  return { ...last, message, attempts };
}

/** `12 s`, `5 min`, `3 h`: never less than it is. */
export function humanWait(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

function fill(template: string, fields: FailureFields): string {
  return template.replace(/<([a-z_-]+)>/gi, (whole, name: string) => {
    const value = fields[name];
    return value === undefined ? whole : String(value);
  });
}
