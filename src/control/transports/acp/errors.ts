/** Failures of the engine as errors of the Agent Client Protocol. */
import { RequestError } from "@agentclientprotocol/sdk";
import type { Failure, FailureReason } from "../../../protocol/errors.js";

/** The user has to sign in, or to give a key. */
const NEEDS_SIGN_IN: ReadonlySet<FailureReason> = new Set<FailureReason>([
  "NoModel",
  "AuthFailed",
  "SignedOut",
  "CredentialsUnavailable",
]);

const CODES: Partial<Record<FailureReason, number>> = {
  InvalidInput: -32602,
  ConfigurationInvalid: -32602,
  SessionNotFound: -32002,
  TurnInProgress: -32600,
};

const INTERNAL = -32603;
const SIGN_IN = -32000;

/** `data.reason` is the reason that Oxbow's own protocol has, for clients that know it. */
export function requestError({ reason, message }: Failure, more: Readonly<Record<string, string>> = {}): RequestError {
  const code = NEEDS_SIGN_IN.has(reason) ? SIGN_IN : (CODES[reason] ?? INTERNAL);
  return new RequestError(code, message, { reason, ...more });
}

export function invalid(message: string): RequestError {
  return new RequestError(-32602, message);
}

export function noSession(session: string): RequestError {
  return new RequestError(-32002, `There is no session ${session}.`, { sessionId: session });
}
