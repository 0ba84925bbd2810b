import { run } from "./entry.mjs";

run(() => import("./generate-catalogue/generate.mjs"));
