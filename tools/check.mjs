import { run } from "./entry.mjs";

run(() => import("./test/check.mjs"));
