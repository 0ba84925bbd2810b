import { run } from "./entry.mjs";

run(() => import("./messages/messages.mjs"));
