/**
 * An HTTP client that sends its requests through the credential helper: the engine names a credential, and the helper adds the key and
 * knows the address.
 *
 * 1. A request whose helper ended before it answered is sent again through the next helper. In the middle of an answer, that is an
 *    ordinary broken connection.
 * 2. A problem on this machine is an HttpFailure; a problem between helper and provider looks as if there were
 *    no helper.
 */
import { failure } from "../../../protocol/errors.js";
import type { HttpClient, HttpRequest, HttpResponse } from "../../../system/http-client.js";
import { HttpError, HttpFailure, networkDetail } from "../../../system/http-error.js";
import { CredentialError } from "../credential-error.js";
import type { EntryName } from "../credential-file.js";
import { type HelperLink, HelperLost, type Reached } from "./helper-link.js";
import {
  CREDENTIAL_HEADER,
  credentialName,
  ERROR_HEADER,
  type HelperProblem,
  REFUSED_HEADER,
  TOKEN_HEADER,
} from "./helper-protocol.js";

// One module to load: each further one delays the first request.
export { askHelper } from "./ask-helper.js";
export { HelperLink } from "./helper-link.js";

export interface HelperClientOptions {
  readonly link: HelperLink;
  readonly credential: EntryName;
  /** For this credential alone: its kept connections belong to it. */
  readonly http: HttpClient;
  /** Tokens, unlike keys, can be renewed when they are refused. */
  readonly kind?: "api_key" | "oauth";
}

const PROBLEM_BYTES = 16 * 1024;

export function createHelperClient(options: HelperClientOptions): HttpClient {
  return {
    async request(request) {
      const response = await letIn(options, request);
      if (response.status !== 401 || options.kind !== "oauth") return response;
      // This machine's clock may be slow, or the token was revoked early.
      response.release();
      return letIn(options, { ...request, headers: { ...request.headers, [REFUSED_HEADER]: "1" } });
    },
    close: () => options.http.close(),
  };
}

async function letIn(options: HelperClientOptions, request: HttpRequest): Promise<HttpResponse> {
  for (;;) {
    const reached = await reach(options);
    const response = await attempt(options, request, reached);
    if (typeof response !== "string") return response;
    options.link.lost(reached.endpoint, response);
  }
}

async function reach({ link, credential }: HelperClientOptions): Promise<Reached> {
  try {
    return await link.reach();
  } catch (error) {
    if (error instanceof HelperLost) throw new HttpFailure(failure("CredentialHelperFailed"));
    if (error instanceof CredentialError) throw unavailable(credential, error.message);
    throw error;
  }
}

/** Tells how the helper ended, if it did. */
async function attempt(
  { link, credential, http }: HelperClientOptions,
  request: HttpRequest,
  { endpoint, socketPath }: Reached,
): Promise<HttpResponse | "absent" | "broken"> {
  const { pathname, search } = new URL(request.url);
  // Not before the request itself is on its way.
  setImmediate(() => link.use(endpoint));
  let response: HttpResponse;
  try {
    response = await http.request({
      ...request,
      url: `http://oxbow${pathname}${search}`,
      headers: { ...request.headers, [TOKEN_HEADER]: endpoint.token, [CREDENTIAL_HEADER]: credentialName(credential) },
      socketPath,
    });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.kind === "connect") return "absent";
    if (error.kind === "dropped") return "broken";
    throw error;
  }
  const code = response.headers[ERROR_HEADER];
  if (code === "token") return "absent";
  link.answered(endpoint);
  if (code === undefined) return response;
  throw problemOf(credential, await response.text(PROBLEM_BYTES));
}

function problemOf(credential: EntryName, text: string): HttpError {
  const { code, message, cause, isWorded } = JSON.parse(text) as HelperProblem;
  if (code === "connect" || code === "dropped" || code === "timeout") {
    const error = Object.assign(new Error(message), cause === undefined ? {} : { code: cause });
    return new HttpError(code, isWorded ? message : networkDetail(error), cause);
  }
  if (code === "signed-out") return new HttpFailure(failure("SignedOut", { name: credential.provider }));
  return unavailable(credential, message);
}

function unavailable({ provider }: EntryName, detail: string): HttpFailure {
  return new HttpFailure(failure("CredentialsUnavailable", { name: provider, detail }));
}
