import { run } from "./entry.mjs";

run(() => import("./check-wording/check.mjs"));
