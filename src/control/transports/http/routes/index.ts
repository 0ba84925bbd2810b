import type { Route } from "../route.js";
import { LOOKUP_ROUTES } from "./lookups.js";
import { SERVICE_ROUTES } from "./service.js";
import { SESSION_ROUTES } from "./sessions.js";
import { TOKEN_ROUTES } from "./tokens.js";

/** Every route below /v1 but the WebSocket. */
export const ROUTES: readonly Route[] = [...SERVICE_ROUTES, ...SESSION_ROUTES, ...LOOKUP_ROUTES, ...TOKEN_ROUTES];
