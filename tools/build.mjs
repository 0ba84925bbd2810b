import { run } from "./entry.mjs";

run(() => import("./build/build.mjs"));
