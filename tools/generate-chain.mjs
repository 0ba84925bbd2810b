import { run } from "./entry.mjs";

run(() => import("./generate-chain/generate.mjs"));
