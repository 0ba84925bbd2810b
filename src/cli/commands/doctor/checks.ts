/** `oxbow doctor` on what a session needs: the store, the sandbox, extensions and MCP servers. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { counted } from "../../../base/group-digits.js";
import type { Variables } from "../../../base/variables.js";
import { VERSION } from "../../../base/version.js";
import { controlPlace } from "../../../control/control-place.js";
import { listExtensions } from "../../../runtime/content/find-extensions.js";
import { createModelRegistry } from "../../../runtime/models/model-registry.js";
import { readNetworkPlan } from "../../../runtime/network.js";
import { sandboxOverrides } from "../../../runtime/parts/open-sandbox.js";
import { SessionStores } from "../../../runtime/sessions/session-stores.js";
import type { LoadedSettings } from "../../../runtime/settings/settings.js";
import { detectSandbox } from "../../../security/sandbox/detect.js";
import { describeSandbox, hasNamespaces } from "../../../security/sandbox/state.js";
import { labelOf } from "../../../security/trust/content.js";
import { openNetwork } from "../../../system/network/network.js";
import { NetworkSettingError, parseProxyAddress } from "../../../system/network/proxy-address.js";
import type { Roots } from "../../../system/xdg-paths.js";
import { reachEngine } from "../../attach/reach.js";
import { secretsFileHere } from "../../secrets.js";
import type { Finding } from "./finding.js";

/** Opens the store: there is no other way to know that it works. */
export async function sessionsFinding(
  { settings, roots }: LoadedSettings,
  variables: Variables,
): Promise<readonly Finding[]> {
  const subject = "sessions";
  let problem = "";
  const notify = (message: string) => {
    problem = message;
  };
  const stores = new SessionStores({ settings, roots, variables, root: process.cwd(), notify, hint: () => {} });
  const choice = await stores.choice();
  const store = await stores.open();
  await stores.close();
  if (choice.kind === "none") {
    const fix = "leave out '--store none', and set 'store' in the profile";
    return [{ subject, verdict: "warn", text: "not stored ('none')", fix }];
  }
  if (store === undefined) return [{ subject, verdict: "warn", text: problem }];
  const key = await stores.keyPlace();
  return [{ subject, verdict: "ok", text: `${choice.kind} in ${choice.folder}, key from ${key}` }];
}

/** Runs a command in it: there is no other way to know that it works. */
export async function sandboxFinding(loaded: LoadedSettings, variables: Variables): Promise<readonly Finding[]> {
  const { settings, roots } = loaded;
  const state = await detectSandbox({
    platform: process.platform,
    architecture: process.arch,
    path: variables.PATH,
    overrides: sandboxOverrides(settings),
    folder: join(roots.state, "sandbox"),
    workspace: process.cwd(),
  });
  const subject = "sandbox";
  const text = describeSandbox(state);
  if (hasNamespaces(state)) {
    const why = await whyNotHeld(loaded, variables);
    const held =
      why === undefined
        ? "what commands write is held back and checked"
        : `commands write straight into the workspace: ${why}`;
    const isFull = why === undefined && state.kind === "bubblewrap";
    return [{ subject, verdict: isFull ? "ok" : "warn", text: `${text}; ${held}` }];
  }
  if (state.kind !== "none") return [{ subject, verdict: "ok", text }];
  const isRequired = settings.sandbox.value === "required";
  return [{ subject, verdict: isRequired ? "fail" : "warn", text: isRequired ? `required, but ${text}` : text }];
}

async function whyNotHeld(loaded: LoadedSettings, variables: Variables): Promise<string | undefined> {
  const { loneSandbox } = await import("../../../runtime/parts/containment.js");
  const sandbox = loneSandbox({ loaded, variables, root: process.cwd(), notify: () => {} });
  try {
    return await sandbox.whyNotHeld();
  } finally {
    await sandbox.close();
  }
}

/** Runs no extension. */
export async function extensionFindings(loaded: LoadedSettings, variables: Variables): Promise<readonly Finding[]> {
  const { items, unusable } = await listExtensions({ loaded, variables, root: process.cwd() });
  const isServer = ({ kind }: { readonly kind: string }) => kind === "mcp";
  const servers = items.filter(isServer);
  const others = items.filter((item) => !isServer(item));
  return [
    summary("extensions", others),
    summary("MCP", servers),
    ...unusable.map(({ path, problem }): Finding => {
      return { subject: "extensions", verdict: "fail", text: `${path} ${problem}`, fix: "correct or remove the file" };
    }),
  ];
}

type Listed = Awaited<ReturnType<typeof listExtensions>>["items"];

function summary(subject: string, items: Listed): Finding {
  if (items.length === 0) return { subject, verdict: "ok", text: "none here" };
  const waiting = items.filter(({ state }) => state === "waiting").length;
  const counts = new Map<string, number>();
  for (const { kind } of items) counts.set(labelOf(kind), (counts.get(labelOf(kind)) ?? 0) + 1);
  const text = [...counts].map(([label, count]) => `${count} × ${label}`).join(", ");
  if (waiting === 0) return { subject, verdict: "ok", text };
  return {
    subject,
    verdict: "warn",
    text: `${text}; ${waiting} not approved`,
    fix: "'oxbow ack' shows and approves them",
  };
}

export async function controlFindings(roots: Roots, variables: Variables): Promise<readonly Finding[]> {
  const subject = "engine";
  const place = controlPlace(roots);
  const loose = [place.socket, place.token].filter(isOpenToOthers).map((path): Finding => {
    return { subject, verdict: "fail", text: `${path} is open to other users`, fix: `chmod 600 ${path}` };
  });
  return [await engineFinding(variables), ...loose];
}

async function engineFinding(variables: Variables): Promise<Finding> {
  const subject = "engine";
  const reached = await reachEngine(variables, { name: "oxbow doctor", canAnswer: false });
  if (reached.kind === "none") {
    return { subject, verdict: "ok", text: "none runs; 'oxbow' and 'oxbow serve' start one" };
  }
  const process = `process ${reached.pid ?? "of another system"}`;
  if (reached.kind === "unreachable") {
    const fix = `end ${process}, or wait until it answers; 'oxbow --no-attach' works without it`;
    return { subject, verdict: "fail", text: `${process} is the engine: ${reached.reason}`, fix };
  }
  const reply = await reached.client.query("GetHealth", {});
  await reached.client.close();
  if (!reply.ok) return { subject, verdict: "fail", text: reply.failure.message };
  const { version, sessions, clients } = reply.answer;
  // The doctor itself is one of them.
  const text = `${process}, version ${version}: ${counted(sessions, "session")}, ${counted(clients - 1, "client")}`;
  if (version === VERSION) return { subject, verdict: "ok", text };
  return { subject, verdict: "warn", text: `${text}; this is ${VERSION}`, fix: "start the engine again" };
}

function isOpenToOthers(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && process.platform !== "win32" && (found.mode & 0o077) !== 0;
}

/** A provider that is not ready is a warning, or a failure if the user has configured it. */
export async function modelFindings(
  variables: Variables,
  loaded: LoadedSettings | undefined,
): Promise<readonly Finding[]> {
  const registry = createModelRegistry({
    variables,
    ...(loaded && {
      roots: loaded.roots,
      tables: { value: loaded.settings.providers.value, file: loaded.profilePath },
    }),
  });
  const findings = (await registry.providers()).map((state): Finding => {
    const { name: subject, detail } = state;
    if (!state.ready && !state.configured) return { subject, verdict: "warn", text: detail, isUnused: true };
    if (!state.ready) return { subject, verdict: "fail", text: detail };
    const count = `${state.models.length} model${state.models.length === 1 ? "" : "s"}`;
    return { subject, verdict: "ok", text: state.baseUrl === "" ? detail : `${count} at ${state.baseUrl}` };
  });
  const chosen = await registry.choose({
    provider: loaded?.settings.provider.value,
    model: loaded?.settings.model.value,
  });
  const { failure, model } = chosen;
  const text = failure?.message ?? `${model.provider}:${model.model}`;
  return [...findings, { subject: "model in use", verdict: failure ? "fail" : "ok", text }];
}

export async function networkFindings(variables: Variables): Promise<readonly Finding[]> {
  const plan = await readNetworkPlan(variables);
  if (plan === undefined) return [finding("network", "direct: no proxy is set")];
  try {
    await openNetwork(plan).secureContext();
  } catch (error) {
    if (!(error instanceof NetworkSettingError)) throw error;
    return [{ subject: "network", verdict: "fail", text: error.message }];
  }
  const proxies = Object.entries({ https: plan.httpsProxy, http: plan.httpProxy }).flatMap(([kind, proxy]) =>
    proxy === undefined ? [] : [`${kind} through ${parseProxyAddress(proxy.value, "").shown} (${proxy.origin})`],
  );
  const files = (plan.authorities ?? []).map(({ value, origin }) => `${value} (${origin})`);
  const direct = plan.noProxy?.trim() ? `, but not to ${plan.noProxy.trim()}` : "";
  return [
    ...(proxies.length > 0 ? [finding("proxy", `${proxies.join(", ")}${direct}`)] : []),
    ...(files.length > 0 ? [finding("authorities", `also trusts the certificates in ${files.join(", ")}`)] : []),
  ];
}

function finding(subject: string, text: string): Finding {
  return { subject, verdict: "ok", text };
}

export async function secretsFindings(): Promise<readonly Finding[]> {
  const subject = "secrets file";
  const file = await secretsFileHere();
  if (file === undefined) return [];
  const { path, keys, refused, warnings } = file;
  if (refused !== undefined) return [{ subject, verdict: "fail", text: `${path} is not read: ${refused}` }];
  const names = Object.keys(keys).join(", ") || "no key";
  const problems = warnings.map((warning): Finding => ({ subject, verdict: "warn", text: warning }));
  return [{ subject, verdict: "ok", text: `${path}: ${names}` }, ...problems];
}
