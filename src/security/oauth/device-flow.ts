/**
 * Signing in by a code that is typed on another screen (RFC 8628), as GitHub does it.
 *
 * 1. The server sets the interval: it is never polled faster, and slower each time it asks for that.
 * 2. After a failed connection the next poll tries again; only the expiry of the code ends the wait.
 */
import { onAbort } from "../../base/abort-tree.js";
import type { Clock } from "../../base/clock.js";
import type { HttpClient } from "../../system/http-client.js";
import { shown } from "./authorization.js";
import type { Conversation } from "./browser-flow.js";
import { cancelled, OAuthError } from "./oauth-error.js";
import type { DeviceProvider } from "./providers.js";
import { complaint, errorCode, isGood, post, type Reply, send, text } from "./token-endpoint.js";

export interface DeviceFlowOptions {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly person: Pick<Conversation, "notify">;
  readonly open?: (url: string) => void;
}

interface DeviceCode {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly address: string;
  readonly intervalMs: number;
  readonly lifeMs: number;
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const USUAL_INTERVAL_S = 5;
const USUAL_LIFE_S = 15 * 60;
/** The standard's step at `slow_down`. */
const SLOWER_MS = 5000;
/** With a slightly fast clock the server would ask to slow down at every poll. */
const MARGIN_MS = 500;

/** The token of the account. */
export async function signInByDevice(provider: DeviceProvider, options: DeviceFlowOptions): Promise<string> {
  const device = await requestCode(provider, options);
  options.person.notify(invitation(provider, device));
  options.open?.(device.address);
  return poll(provider, device, options);
}

async function requestCode(provider: DeviceProvider, options: DeviceFlowOptions): Promise<DeviceCode> {
  const { clientId, scope, deviceUrl } = provider;
  const reply = await send(post(deviceUrl, { client_id: clientId, scope }, "form"), options);
  const { body } = reply;
  const [deviceCode, userCode, address] = [text(body.device_code), text(body.user_code), text(body.verification_uri)];
  const { host } = new URL(deviceUrl);
  if (!isGood(reply.status) || errorCode(reply) !== "") throw complaint(reply, host);
  if (deviceCode === "" || userCode === "" || !isWebAddress(address, deviceUrl)) {
    throw new OAuthError("unexpected", `${host} sent no code to enter.`);
  }
  return {
    deviceCode,
    userCode: shown(userCode),
    address,
    intervalMs: seconds(body.interval, USUAL_INTERVAL_S),
    lifeMs: seconds(body.expires_in, USUAL_LIFE_S),
  };
}

async function poll(provider: DeviceProvider, device: DeviceCode, options: DeviceFlowOptions): Promise<string> {
  const { clock, signal } = options;
  const end = clock.now() + device.lifeMs;
  const fields = { client_id: provider.clientId, device_code: device.deviceCode, grant_type: GRANT };
  let intervalMs = device.intervalMs;
  while (clock.now() < end) {
    await pause(clock, intervalMs + MARGIN_MS, signal);
    const reply = await tried(() => send(post(provider.tokenUrl, fields, "form"), options));
    if (reply === undefined) intervalMs += SLOWER_MS;
    else {
      const token = text(reply.body.access_token);
      if (token !== "") return token;
      intervalMs = nextInterval(reply, { intervalMs, host: new URL(provider.tokenUrl).host });
    }
  }
  throw expired();
}

/** Tells how long to wait before the next poll; throws when polling is over. */
function nextInterval(
  reply: Reply,
  { intervalMs, host }: { readonly intervalMs: number; readonly host: string },
): number {
  switch (errorCode(reply)) {
    case "authorization_pending":
      return intervalMs;
    case "slow_down":
      return Math.max(seconds(reply.body.interval, 0), intervalMs + SLOWER_MS);
    case "expired_token":
      throw expired();
    case "access_denied":
      throw new OAuthError("refused", "The sign-in was refused in the browser.");
    default:
      if (reply.status >= 500 || reply.status === 429) return intervalMs + SLOWER_MS;
      throw complaint(reply, host);
  }
}

async function tried(action: () => Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof OAuthError && error.problem === "unreachable") return undefined;
    throw error;
  }
}

function expired(): OAuthError {
  return new OAuthError("expired", "The code was not entered in time. Try again.");
}

function seconds(value: unknown, usual: number): number {
  return (typeof value === "number" && value > 0 ? value : usual) * 1000;
}

/** The user opens this address, so it must be a page of the same service. */
function isWebAddress(address: string, service: string): boolean {
  if (!URL.canParse(address)) return false;
  const [page, own] = [new URL(address), new URL(service)];
  return page.protocol === own.protocol && page.hostname === own.hostname;
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(cancelled());
    let stopListening = () => {};
    const stopTimer = clock.after(ms, () => {
      stopListening();
      resolve();
    });
    stopListening = onAbort(signal, () => {
      stopTimer();
      reject(cancelled());
    });
  });
}

function invitation({ label }: DeviceProvider, { userCode, address, lifeMs }: DeviceCode): string {
  const line = "─".repeat(userCode.length + 6);
  return `
Sign in with ${label}. Open this address in a browser on any machine:

  ${address}

and enter this code (good for ${Math.round(lifeMs / 60_000)} minutes; never enter a code that another person sent you):

  ┌${line}┐
  │   ${userCode}   │
  └${line}┘

`;
}
