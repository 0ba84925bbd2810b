import { run } from "./entry.mjs";

run(() => import("./check-layers/check.mjs"));
