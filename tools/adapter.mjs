import { run } from "./entry.mjs";

run(() => import("./adapter/adapter.mjs"));
