/**
 * Describes what a server asks of its client while a call runs: a form for the user, an answer of the model, the folders.
 *
 * 1. Several sessions may share a server. A question goes to the session whose call began last; without a call it is declined.
 */

import { pathToFileURL } from "node:url";
import type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  ListRootsResult,
} from "@modelcontextprotocol/client";

export type ElicitParams = ElicitRequest["params"];
export type SampleParams = CreateMessageRequest["params"];

/** One session, as a server sees it. */
export interface ServerUser {
  elicit(params: ElicitParams, about: { readonly server: string; readonly signal: AbortSignal }): Promise<ElicitResult>;
  sample(
    params: SampleParams,
    about: { readonly server: string; readonly signal: AbortSignal },
  ): Promise<CreateMessageResult>;
}

/** Questions of one call beyond this are declined: a server must not keep a person busy. */
const MOST_QUESTIONS = 20;

export class ServerRequests {
  readonly #server: string;
  readonly #root: string;
  readonly #calls: { readonly user: ServerUser; questions: number }[] = [];

  constructor(server: string, root: string) {
    this.#server = server;
    this.#root = root;
  }

  /** Ends with the returned function. */
  begin(user: ServerUser): () => void {
    const call = { user, questions: 0 };
    this.#calls.push(call);
    return () => {
      const at = this.#calls.indexOf(call);
      if (at >= 0) this.#calls.splice(at, 1);
    };
  }

  async elicit(params: ElicitParams, signal: AbortSignal): Promise<ElicitResult> {
    const user = this.#take();
    return user === undefined ? { action: "decline" } : user.elicit(params, { server: this.#server, signal });
  }

  async sample(params: SampleParams, signal: AbortSignal): Promise<CreateMessageResult> {
    const user = this.#take();
    if (user === undefined) throw new Error("No call is running, so the server cannot ask the model.");
    return user.sample(params, { server: this.#server, signal });
  }

  roots(): ListRootsResult {
    return { roots: [{ uri: pathToFileURL(this.#root).href, name: "workspace" }] };
  }

  #take(): ServerUser | undefined {
    const call = this.#calls.at(-1);
    if (call === undefined || call.questions >= MOST_QUESTIONS) return undefined;
    call.questions++;
    return call.user;
  }
}
