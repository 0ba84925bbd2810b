import { run } from "./entry.mjs";

run(() => import("./mutate/mutate.mjs"));
