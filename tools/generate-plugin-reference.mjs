import { run } from "./entry.mjs";

run(() => import("./generate-plugin-reference/generate.mjs"));
