import { run } from "./entry.mjs";

run(() => import("./start/start.mjs"));
