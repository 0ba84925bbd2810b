// The directions of ARCHITECTURE.md, as data. A layer is a folder of src; in clients/ each folder is one.

const FOUNDATION = ["protocol", "base", "system"];
const FEATURES = ["providers", "costs", "tools", "security", "context", "sessions", "extensions"];

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
  commands: JOINT,
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
  "testkit/suite-adapter": { imports: [...RUNTIME, "runtime", "clients/tui"] },
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
