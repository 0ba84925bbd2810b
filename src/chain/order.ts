/**
 * Every hook, link and subscriber of the product, in the order in which they run.
 *
 * 1. The names (`NN-name`) give the order. They are API: programs, plugins and the library enter between them by a name of their own.
 * 2. An entry with `create` is built in: it uses the services of the parts. An entry with `of` belongs to the part in that folder, which adds
 *    it to the sessions that need it.
 */
import type { Stage } from "../engine/turn.js";
import { permission } from "./permission-link.js";
import * as request from "./request-links.js";
import type { CreateHook, CreateRequestLink, CreateSubscriber, CreateToolLink } from "./services.js";
import * as stage from "./stages.js";
import * as tool from "./tool-links.js";

type Entry<Create> =
  | { readonly name: string; readonly create: Create }
  | { readonly name: string; readonly of: string };

const HOOKS = "extensions/hooks";

export const STAGES: Readonly<Record<Stage, readonly Entry<CreateHook>[]>> = {
  start: [
    { name: "05-edited-conversation", create: stage.editedConversation },
    { name: "07-route", create: stage.route },
    { name: "08-event-hooks", of: HOOKS },
    { name: "10-input", create: stage.input },
    { name: "11-gathered", of: "context/pinned" },
    { name: "12-event-hooks", of: HOOKS },
    { name: "12-retrieval", of: "context/retrieval" },
    { name: "99-show-input", of: "library" },
  ],
  assemble: [
    { name: "10-messages", create: stage.messages },
    { name: "20-tools", create: stage.tools },
    { name: "30-instructions", create: stage.systemPrompt },
    { name: "50-compaction", create: stage.shortenInTime },
    { name: "60-output-limit", create: stage.outputLimit },
  ],
  send: [{ name: "50-model", create: stage.send }],
  receive: [
    { name: "50-answer", create: stage.readAnswer },
    { name: "60-event-hooks", of: HOOKS },
  ],
  tool_exec: [{ name: "50-dispatch", create: stage.runCalls }],
  tool_done: [
    { name: "20-event-hooks", of: HOOKS },
    { name: "30-steer", create: stage.steer },
    { name: "35-event-hooks", of: HOOKS },
    { name: "40-window-notice", create: stage.windowNotice },
  ],
  done: [
    { name: "10-open-calls", create: stage.openCalls },
    { name: "20-permission", create: stage.missingPermission },
    { name: "60-window-notice", create: stage.windowNotice },
    { name: "65-memory-offer", of: "context/memory" },
    { name: "66-kb-offer", of: "context/knowledge-base" },
    { name: "80-save", create: stage.save },
  ],
  error: [
    { name: "50-report", create: stage.report },
    { name: "60-event-hooks", of: HOOKS },
  ],
};

/** Around each provider call, the outermost first. */
export const REQUEST_LINKS: readonly Entry<CreateRequestLink>[] = [
  { name: "10-variant", create: request.variant },
  { name: "20-retry", create: request.retry },
  { name: "30-budget", create: request.budget },
  { name: "80-price", create: request.price },
  { name: "90-log", create: request.logRequest },
  { name: "95-mcp", of: "extensions/mcp" },
  { name: "96-raw-traffic", of: "providers/raw-traffic" },
];

/** Around each call of a tool, the outermost first. */
export const TOOL_LINKS: readonly Entry<CreateToolLink>[] = [
  { name: "01-recorded", of: "sessions/rerun" },
  { name: "02-log", create: tool.logCall },
  { name: "05-restore-copied-text", create: tool.restoreCopiedText },
  { name: "10-arguments", create: tool.checkArguments },
  { name: "15-event-hooks", of: HOOKS },
  { name: "20-permission", create: permission },
  { name: "30-ledger", create: tool.ledger },
  { name: "50-undo", create: tool.undo },
  { name: "60-cap", create: tool.cap },
  { name: "70-redact", create: tool.redactCall },
  { name: "80-instructions", create: tool.folderInstructions },
  { name: "90-wait-for-intent", create: tool.waitForIntent },
  { name: "95-subagents", of: "extensions/subagents" },
  { name: "95-web-search", of: "tools/web" },
];

/** They see every event. */
export const SUBSCRIBERS: readonly Entry<CreateSubscriber>[] = [
  { name: "05-prepare-first-call", of: "tools" },
  {
    name: "10-undo",
    create:
      ({ undo }) =>
      (event) =>
        undo?.onEvent?.(event),
  },
  { name: "15-workspace", of: "security/sandbox" },
  { name: "20-audit", of: "security/audit" },
  {
    name: "30-costs",
    create:
      ({ costs }) =>
      (event) =>
        costs?.onEvent?.(event),
  },
  {
    name: "40-compaction",
    create:
      ({ compaction }) =>
      (event) =>
        compaction?.onEvent?.(event),
  },
  { name: "45-retrieval", of: "context/retrieval" },
  {
    name: "50-journal",
    create:
      ({ journal }) =>
      (event) =>
        journal?.record(event),
  },
  { name: "60-event-hooks", of: HOOKS },
  { name: "60-extensions", of: "extensions/executable" },
  { name: "60-memory", of: "context/memory" },
  { name: "60-recording", of: "sessions/recorder" },
  { name: "61-mcp", of: "extensions/mcp" },
  { name: "61-missing-tools", of: "runtime" },
];
