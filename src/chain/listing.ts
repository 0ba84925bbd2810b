// Written by tools/generate-chain.mjs from the names of the files beside it. Do not edit.

import { create as request10Variant } from "./request/10-variant.js";
import { create as request20Retry } from "./request/20-retry.js";
import { create as request30Budget } from "./request/30-budget.js";
import { create as request80Price } from "./request/80-price.js";
import { create as request90Log } from "./request/90-log.js";
import type { ChainListing } from "./services.js";
import { create as assemble10Messages } from "./stages/assemble/10-messages.js";
import { create as assemble20Tools } from "./stages/assemble/20-tools.js";
import { create as assemble30Instructions } from "./stages/assemble/30-instructions.js";
import { create as assemble50Compaction } from "./stages/assemble/50-compaction.js";
import { create as assemble60OutputLimit } from "./stages/assemble/60-output-limit.js";
import { create as done10OpenCalls } from "./stages/done/10-open-calls.js";
import { create as done20Permission } from "./stages/done/20-permission.js";
import { create as done60WindowNotice } from "./stages/done/60-window-notice.js";
import { create as done80Save } from "./stages/done/80-save.js";
import { create as error50Report } from "./stages/error/50-report.js";
import { create as receive50Answer } from "./stages/receive/50-answer.js";
import { create as send50Model } from "./stages/send/50-model.js";
import { create as start05EditedConversation } from "./stages/start/05-edited-conversation.js";
import { create as start07Route } from "./stages/start/07-route.js";
import { create as start10Input } from "./stages/start/10-input.js";
import { create as toolDone30Steer } from "./stages/tool_done/30-steer.js";
import { create as toolDone40WindowNotice } from "./stages/tool_done/40-window-notice.js";
import { create as toolExec50Dispatch } from "./stages/tool_exec/50-dispatch.js";
import { create as subscribers10Undo } from "./subscribers/10-undo.js";
import { create as subscribers20Audit } from "./subscribers/20-audit.js";
import { create as subscribers30Costs } from "./subscribers/30-costs.js";
import { create as subscribers40Compaction } from "./subscribers/40-compaction.js";
import { create as subscribers50Journal } from "./subscribers/50-journal.js";
import { create as tool02Log } from "./tool/02-log.js";
import { create as tool05RestoreCopiedText } from "./tool/05-restore-copied-text.js";
import { create as tool10Arguments } from "./tool/10-arguments.js";
import { create as tool20Permission } from "./tool/20-permission.js";
import { create as tool30Ledger } from "./tool/30-ledger.js";
import { create as tool50Undo } from "./tool/50-undo.js";
import { create as tool60Cap } from "./tool/60-cap.js";
import { create as tool70Redact } from "./tool/70-redact.js";
import { create as tool80Instructions } from "./tool/80-instructions.js";
import { create as tool90WaitForIntent } from "./tool/90-wait-for-intent.js";

export const listing: ChainListing = {
  stages: {
    start: [
      { name: "05-edited-conversation", create: start05EditedConversation },
      { name: "07-route", create: start07Route },
      { name: "10-input", create: start10Input },
    ],
    assemble: [
      { name: "10-messages", create: assemble10Messages },
      { name: "20-tools", create: assemble20Tools },
      { name: "30-instructions", create: assemble30Instructions },
      { name: "50-compaction", create: assemble50Compaction },
      { name: "60-output-limit", create: assemble60OutputLimit },
    ],
    send: [{ name: "50-model", create: send50Model }],
    receive: [{ name: "50-answer", create: receive50Answer }],
    tool_exec: [{ name: "50-dispatch", create: toolExec50Dispatch }],
    tool_done: [
      { name: "30-steer", create: toolDone30Steer },
      { name: "40-window-notice", create: toolDone40WindowNotice },
    ],
    done: [
      { name: "10-open-calls", create: done10OpenCalls },
      { name: "20-permission", create: done20Permission },
      { name: "60-window-notice", create: done60WindowNotice },
      { name: "80-save", create: done80Save },
    ],
    error: [{ name: "50-report", create: error50Report }],
  },
  request: [
    { name: "10-variant", create: request10Variant },
    { name: "20-retry", create: request20Retry },
    { name: "30-budget", create: request30Budget },
    { name: "80-price", create: request80Price },
    { name: "90-log", create: request90Log },
  ],
  tool: [
    { name: "02-log", create: tool02Log },
    { name: "05-restore-copied-text", create: tool05RestoreCopiedText },
    { name: "10-arguments", create: tool10Arguments },
    { name: "20-permission", create: tool20Permission },
    { name: "30-ledger", create: tool30Ledger },
    { name: "50-undo", create: tool50Undo },
    { name: "60-cap", create: tool60Cap },
    { name: "70-redact", create: tool70Redact },
    { name: "80-instructions", create: tool80Instructions },
    { name: "90-wait-for-intent", create: tool90WaitForIntent },
  ],
  subscribers: [
    { name: "10-undo", create: subscribers10Undo },
    { name: "20-audit", create: subscribers20Audit },
    { name: "30-costs", create: subscribers30Costs },
    { name: "40-compaction", create: subscribers40Compaction },
    { name: "50-journal", create: subscribers50Journal },
  ],
};
