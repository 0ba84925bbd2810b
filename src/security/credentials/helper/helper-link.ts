/**
 * The engine's side of the credential helper: finds it, starts it, watches it, and restarts it once.
 *
 * 1. A helper that died or sends no heartbeat is replaced once. A second loss within a minute is final:
 *    CredentialHelperFailed, until the minute is over.
 * 2. The link asks a helper of another version to exit. It exits when no engine uses it; otherwise the link uses it.
 * 3. Nothing here keeps the process alive, if the clock's timers do not.
 */

import { rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import type { Clock } from "../../../base/clock.js";
import { Once } from "../../../base/once.js";
import { reachable } from "../../../system/socket-path.js";
import { askHelper } from "./ask-helper.js";
import {
  BEAT_MS,
  type HelperEndpoint,
  privateFolder,
  readEndpoint,
  removeNote,
  TOKEN_HEADER,
} from "./helper-protocol.js";

export interface HelperLinkOptions {
  readonly folder: string;
  readonly version: string;
  readonly clock: Clock;
  /** Resolves when there is a helper; rejects with a CredentialError. */
  readonly start: () => Promise<void>;
}

/** The helper ended twice. */
export class HelperLost extends Error {
  override readonly name = "HelperLost";
}

export interface Reached {
  readonly endpoint: HelperEndpoint;
  readonly socketPath: string;
}

const WINDOW_MS = 60_000;
const MISSED_BEATS = 3;
const GRACE_MS = 1000;

export class HelperLink {
  readonly #options: HelperLinkOptions;
  readonly #reached = new Once(() => this.#find());
  /** The token of the helper that was found last. */
  #known: string | undefined;
  /** The token of the one that has to be there: it has answered, or it was started from here. */
  #expected: string | undefined;
  #watched: string | undefined;
  /** Times of the losses that count. */
  #losses: number[] = [];
  #lastLost: { readonly token: string; isCounted: boolean } | undefined;
  #stopWatching = () => {};

  constructor(options: HelperLinkOptions) {
    this.#options = options;
  }

  /** A running helper, as far as known without asking it. */
  reach(): Promise<Reached> {
    return this.#reached.get();
  }

  /** A request is sent: from now on the helper is watched. */
  use(endpoint: HelperEndpoint): void {
    if (this.#watched !== endpoint.token) this.#watch(endpoint);
  }

  answered(endpoint: HelperEndpoint): void {
    this.#expected = endpoint.token;
  }

  /**
   * It does not answer any more. `absent`: no helper was running, as after a crash long ago, which does not count unless it was there
   * for us before. `broken`: it went away while it was used.
   */
  lost(endpoint: HelperEndpoint, how: "absent" | "broken"): void {
    if (this.#known === endpoint.token) {
      this.#stopWatching();
      this.#reached.forget();
      this.#known = undefined;
      this.#lastLost = { token: endpoint.token, isCounted: false };
    }
    // The watch and the request notice it in any order.
    const counts = how === "broken" || this.#expected === endpoint.token;
    if (counts && this.#lastLost?.token === endpoint.token && !this.#lastLost.isCounted) {
      this.#lastLost.isCounted = true;
      this.#losses.push(this.#options.clock.now());
    }
    // Left behind by a helper that could not clean up. A newer one stays.
    if (readEndpoint(this.#options.folder)?.token === endpoint.token) {
      removeNote(this.#options.folder, endpoint.token);
      rmSync(reachable(this.#options.folder, endpoint.socket), { force: true });
    }
  }

  close(): void {
    this.#stopWatching();
    this.#reached.forget();
    this.#known = undefined;
  }

  async #find(): Promise<Reached> {
    const { folder, version, start, clock } = this.#options;
    this.#losses = this.#losses.filter((at) => clock.now() - at < WINDOW_MS);
    if (this.#losses.length > 1) throw new HelperLost("The credential helper crashed twice.");
    privateFolder(folder);
    const found = readEndpoint(folder);
    if (found !== undefined && (found.version === version || !(await this.#retire(found)))) return this.#found(found);
    await start();
    const started = readEndpoint(folder);
    if (started === undefined) throw new HelperLost("The credential helper ended at once.");
    this.#expected = started.token;
    return this.#found(started);
  }

  #found(endpoint: HelperEndpoint): Reached {
    this.#known = endpoint.token;
    return this.#way(endpoint);
  }

  #way(endpoint: HelperEndpoint): Reached {
    return { endpoint, socketPath: reachable(this.#options.folder, endpoint.socket) };
  }

  /** Tells whether it stops. One that does not answer has already stopped. */
  async #retire(endpoint: HelperEndpoint): Promise<boolean> {
    const { socketPath } = this.#way(endpoint);
    const answer = await askHelper({ socketPath, endpoint, method: "POST", path: "/retire" });
    if (answer === undefined) this.lost(endpoint, "absent");
    return answer?.ends !== false;
  }

  #watch(endpoint: HelperEndpoint): void {
    this.#stopWatching();
    this.#watched = endpoint.token;
    const { clock } = this.#options;
    const request = httpRequest({
      socketPath: this.#way(endpoint).socketPath,
      path: "/watch",
      headers: { [TOKEN_HEADER]: endpoint.token },
      agent: false,
    });
    let cancel = () => {};
    let seen = false;
    const wait = () => {
      cancel();
      // We may be the one who was stopped (Ctrl-Z): what came meanwhile is read before the second timer.
      cancel = clock.after(BEAT_MS * MISSED_BEATS, () => {
        cancel = clock.after(GRACE_MS, () => void kill(endpoint).then(end));
      });
    };
    const beat = () => {
      seen = true;
      wait();
    };
    const end = () => {
      stop();
      this.lost(endpoint, seen ? "broken" : "absent");
    };
    const stop = () => {
      cancel();
      this.#watched = undefined;
      request.off("close", end).destroy();
    };
    this.#stopWatching = stop;
    wait();
    request.on("socket", (socket) => socket.unref());
    request.on("response", (response) => response.on("data", beat).on("error", () => {}));
    request.on("error", () => {});
    request.on("close", end);
    request.end();
  }
}

/** A hanging helper blocks all its users. Only the process in the note is killed. */
async function kill({ pid, startTime }: HelperEndpoint): Promise<void> {
  const { isAlive } = await import("../../../system/process-identity.js");
  if (startTime === 0 || !isAlive({ pid, startTime })) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
