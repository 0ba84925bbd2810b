/** `oxbow doctor` on what a session needs: the store, the sandbox, extensions and MCP servers. */
import { join } from "node:path";
import type { Variables } from "../../../base/variables.js";
import { listExtensions } from "../../../runtime/content/find-extensions.js";
import { sandboxOverrides } from "../../../runtime/parts/open-sandbox.js";
import { SessionStores } from "../../../runtime/sessions/session-stores.js";
import type { LoadedSettings } from "../../../runtime/settings/settings.js";
import { detectSandbox } from "../../../security/sandbox/detect.js";
import { describeSandbox, hasNamespaces } from "../../../security/sandbox/state.js";
import { labelOf } from "../../../security/trust/content.js";
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
