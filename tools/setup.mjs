import { run } from "./entry.mjs";

run(() => import("./setup/set-up.mjs"));
