/** The descriptions of `web_fetch` and `web_search`, apart from their code, which is loaded at the first call. */
import type { ToolDefinition } from "../catalog.js";
import { WEB_FETCH_HABITS, WEB_SEARCH_HABITS } from "../habits/plans.js";
import description from "../web-fetch.md";
import search from "../web-search.md";

export const WEB_FORMATS = ["markdown", "text", "raw"] as const;

export const WEB_FETCH = {
  name: "web_fetch",
  kind: "fetch",
  samples: [{ url: "https://example.com/" }],
  expendable: true,
  habits: WEB_FETCH_HABITS,
  description: description.trim(),
  set: "web",
  concurrencySafe: true,
  mutating: false,
  // The tool marks pages itself; its own text is not marked.
  ownResults: true,
  inputSchema: {
    type: "object",
    properties: {
      url: { type: "string" },
      format: { enum: WEB_FORMATS },
      offset: { type: "integer", minimum: 0, description: "character to start at" },
      limit: { type: "integer", minimum: 1, description: "characters, default 12000" },
    },
    required: ["url"],
  },
} as const satisfies ToolDefinition;

export const WEB_SEARCH = {
  name: "web_search",
  kind: "fetch",
  expendable: true,
  habits: WEB_SEARCH_HABITS,
  description: search.trim(),
  set: "web",
  concurrencySafe: true,
  mutating: false,
  ownResults: true,
  inputSchema: {
    type: "object",
    properties: { query: { type: "string" }, count: { type: "integer", minimum: 1 } },
    required: ["query"],
  },
} as const satisfies ToolDefinition;
