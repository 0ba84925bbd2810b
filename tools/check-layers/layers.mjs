// The directions of ARCHITECTURE.md, as data. A layer is a folder of src; in clients/ each folder is one.

const FOUNDATION = ["protocol", "base", "system"];
export const FEATURES = ["providers", "costs", "tools", "security", "context", "sessions", "extensions"];

const LOOP_TYPES = ["engine/ports.ts", "engine/bus.ts", "engine/turn.ts"];
/** Features import only types of the loop, and declare small interfaces for what they need from each other. */
const FEATURE = { imports: [...FOUNDATION, "feature"], types: LOOP_TYPES };
const JOINT = { imports: [...FOUNDATION, ...FEATURES, "engine", "feature"] };
const RUNTIME = [...JOINT.imports, "chain", "commands", "control"];
const CLIENTS = ["clients/sdk", "clients/sdk-node", "clients/headless", "clients/tui"];
const CLIENT = { imports: ["protocol", "base", "clients/sdk"] };

/**
 * For each layer: the layers it `imports`, the files it may import `types` of besides, and whether it may use
 * third-party `packages` and Node's own modules (`node`); both are allowed unless it says `false`.
 */
export const LAYERS = {
  protocol: { imports: [], packages: false, node: false },
  base: { imports: ["protocol"], packages: false, node: false },
  system: { imports: ["protocol", "base"] },
  engine: { imports: ["protocol", "base"], packages: false, node: false },
  feature: { imports: FOUNDATION, types: LOOP_TYPES },
  ...Object.fromEntries(FEATURES.map((name) => [name, FEATURE])),
  chain: JOINT,
  commands: { imports: ["protocol", "base", "feature"] },
  control: { imports: [...FOUNDATION, "engine"] },
  "clients/sdk": { imports: ["protocol", "base"], node: false },
  // It finds the engine of this machine.
  "clients/sdk-node": { imports: [...CLIENT.imports, "system"] },
  "clients/web": { ...CLIENT, node: false },
  "clients/*": CLIENT,
  runtime: { imports: RUNTIME },
  library: { imports: [...RUNTIME, "runtime"] },
  cli: { imports: [...RUNTIME, ...CLIENTS, "runtime", "testkit"] },
  testkit: { imports: FOUNDATION },
  "testkit/suite-adapter": { imports: [...RUNTIME, "runtime", "clients/sdk", "clients/tui"] },
  main: { imports: "everything" },
};

/** Layers that must stay small: `main` starts the program and joins its parts, `feature` has what every feature uses. */
export const MOST_LINES = { main: 1500, feature: 1000 };

/** The one module that may read `process.env`. */
export const ENVIRONMENT_READER = "main/env.ts";

/**
 * Modules (Node's own by their bare names, ours by their paths in src) that only some files of a folder may import:
 * those `allowed`, each with its reason. A path that ends in `/` stands for all files below it.
 */
export const RESERVED = [
  {
    folder: "tools/",
    modules: ["fs", "fs/promises", "system/atomic-file.ts"],
    allowed: {
      "tools/workspace.ts": "the door",
      "tools/files/": "what the door is made of",
      "tools/search/tree-walk.ts": "walks folders that files/held-directory.ts holds open",
      "tools/output-file.ts": "writes beside the workspace, never in it",
    },
    remedy: "go through tools/workspace.ts, the only door to files",
  },
];

/** Files of runtime that use fewer than two features and have not moved yet. The list only shrinks: a test says which lines can go. */
export const RUNTIME_OF_ONE = new Set([
  "runtime/assemble.ts",
  "runtime/commands/compaction.ts",
  "runtime/commands/engine.ts",
  "runtime/commands/program.ts",
  "runtime/commands/screen.ts",
  "runtime/commands/sessions/branch.ts",
  "runtime/commands/sessions/commands.ts",
  "runtime/commands/sessions/copy-session.ts",
  "runtime/commands/sessions/diff.ts",
  "runtime/commands/sessions/export.ts",
  "runtime/commands/sessions/gc.ts",
  "runtime/commands/sessions/import.ts",
  "runtime/commands/sessions/list-table.ts",
  "runtime/commands/sessions/list.ts",
  "runtime/commands/sessions/pin.ts",
  "runtime/commands/sessions/port.ts",
  "runtime/commands/sessions/rename.ts",
  "runtime/commands/sessions/render-hit.ts",
  "runtime/commands/sessions/resume.ts",
  "runtime/commands/sessions/search.ts",
  "runtime/commands/sessions/show.ts",
  "runtime/commands/sessions/specs.ts",
  "runtime/commands/sessions/turn-line.ts",
  "runtime/commands/sessions/turn-number.ts",
  "runtime/commands/sessions/verify.ts",
  "runtime/commands/sessions/with-lease.ts",
  "runtime/commands/specs.ts",
  "runtime/content/approvals.ts",
  "runtime/content/enter-place.ts",
  "runtime/content/find-extensions.ts",
  "runtime/content/instruction-files.ts",
  "runtime/content/place-extensions.ts",
  "runtime/content/place-settings.ts",
  "runtime/content/remembered-servers.ts",
  "runtime/engine-environment.ts",
  "runtime/hosted-runs.ts",
  "runtime/mcp-mount.ts",
  "runtime/models/change-model.ts",
  "runtime/models/commands.ts",
  "runtime/models/model-fit.ts",
  "runtime/models/model-registry.ts",
  "runtime/models/model-routes.ts",
  "runtime/network.ts",
  "runtime/part.ts",
  "runtime/parts/journal.ts",
  "runtime/parts/permissions.ts",
  "runtime/place-lists.ts",
  "runtime/plugins/plugin-providers.ts",
  "runtime/plugins/plugins-of.ts",
  "runtime/requested-place.ts",
  "runtime/serve.ts",
  "runtime/sessions/earlier-permissions.ts",
  "runtime/sessions/find-session.ts",
  "runtime/sessions/lease-wait.ts",
  "runtime/sessions/live-sessions.ts",
  "runtime/sessions/project-store.ts",
  "runtime/sessions/resumed-session.ts",
  "runtime/sessions/retention-watch.ts",
  "runtime/sessions/same-store.ts",
  "runtime/sessions/session-end.ts",
  "runtime/sessions/session-starts.ts",
  "runtime/settings/choose-profile.ts",
  "runtime/settings/own-settings.ts",
  "runtime/settings/profile-list.ts",
  "runtime/settings/project-profiles.ts",
  "runtime/settings/save-settings.ts",
  "runtime/settings/setting-rows.ts",
  "runtime/settings/tool-choice.ts",
]);
