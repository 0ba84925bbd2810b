import { run } from "./entry.mjs";

run(() => import("./test/test.mjs"));
