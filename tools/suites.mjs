import { run } from "./entry.mjs";

run(() => import("./suites/suites.mjs"));
