/** Settings of permissions. */
import { durationOrOff } from "../../base/read-value.js";
import {
  choice,
  type DeclaredSetting,
  type Layer,
  originOf,
  type Setting,
  type SettingReader,
  setting,
  shownTime,
  switchOf,
} from "../../feature/setting.js";
import { DEFAULT_PERMISSION_TIMEOUT_MS } from "./identity.js";
import { PERMISSION_MODES, type PermissionMode } from "./modes.js";
import type { PermissionTable } from "./permission-tables.js";

/** From the widest to the strictest. `review` asks about edits and `ask` about commands: neither is stricter than the other. */
const STRICTNESS: Readonly<Record<PermissionMode, number>> = { allow: 0, auto: 1, review: 2, ask: 2, deny: 3 };

/** The `[permissions]` of each file, checked; undefined if no file has one. */
const permissions: DeclaredSetting<readonly PermissionTable[] | undefined> = {
  about: "[permissions]: rules and presets",
  guide: "permissions",
  access: "stricter",
  flags: () => [
    {
      name: "allow",
      value: "RULE",
      repeatable: true,
      help: "let matching calls run without asking, this session: 'bash: make *', 'bash+network: npm ci', 'edit: src/**' (repeatable)",
    },
    { name: "deny", value: "RULE", repeatable: true, help: "deny matching calls, this session (repeatable)" },
  ],
  show: tablesText,
  take: readPermissions,
};

export const permissionSettings = {
  permission_mode: choice(PERMISSION_MODES, {
    about: "what runs without a question: auto, review, ask, allow or deny",
    guide: "permissions",
    command: "mode",
    flag: {
      value: "MODE",
      help: "what runs without asking: auto (default; edits, and commands in the sandbox), review (the same without edits), ask (reading, and edits if there is a sandbox), allow (everything), deny (nothing)",
    },
    fallback: "auto",
    project: (theirs, yours) => theirs === yours || STRICTNESS[theirs] > STRICTNESS[yours],
  }),
  permissions,
  strict_permissions: switchOf("ask before read-only commands too"),
  auto_approve: switchOf("answer yes to questions about what stays in the workspace and its sandbox"),
  plan: switchOf("plan only: Oxbow changes nothing until you approve the plan"),
  permission_timeout: setting({
    about: "how long a question waits for an answer; off: without a limit",
    guide: "permissions",
    fallback: DEFAULT_PERMISSION_TIMEOUT_MS,
    read: durationOrOff,
    show: shownTime,
  }),
};

async function readPermissions(
  from: SettingReader,
  key: string,
): Promise<Setting<readonly PermissionTable[] | undefined>> {
  const layers = from.written(key, "stricter");
  const flags = (["allow", "deny"] as const).map((name) => ({ name, texts: from.values(name) }));
  const given = flags.filter(({ texts }) => texts.length > 0);
  if (layers.length === 0 && given.length === 0) return { value: undefined, origin: "default" };
  const { permissionTables } = await import("./permission-tables.js");
  const refuse = (layer: Layer, why: string) => from.refuse(layer, key, why);
  const value = await permissionTables(layers, { config: from.config, refuse, flags: given });
  const origins = [...layers.map((layer) => originOf(layer, key)), ...given.map(({ name }) => `--${name}`)];
  return { value, origin: origins.join(", ") };
}

function tablesText(tables: readonly PermissionTable[] | undefined): string {
  if (tables === undefined) return "(none)";
  const rules = tables.map(({ table }) => (table as { readonly rules?: readonly unknown[] } | undefined)?.rules ?? []);
  const count = rules.flat().length;
  const keys = tables.flatMap(({ table }) => Object.entries(table ?? {})).filter(([key]) => key !== "rules");
  return [`${count} rule${count === 1 ? "" : "s"}`, ...keys.map(([key, value]) => `${key}=${String(value)}`)].join(",");
}
