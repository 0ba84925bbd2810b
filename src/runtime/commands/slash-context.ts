/** What slash commands may see and do, for one run. */

import type { Variables } from "../../base/variables.js";
import type { SlashContext, SlashResult } from "../../commands/registry.js";
import type { Run } from "../../control/run.js";
import { ownText } from "../../protocol/content.js";
import { failure } from "../../protocol/errors.js";
import { createHttpClient } from "../../system/http-client.js";
import { nodeClock } from "../../system/node-clock.js";
import type { Roots } from "../../system/xdg-paths.js";
import type { ModelRegistry } from "../models/model-registry.js";
import type { ModelRoutes } from "../models/model-routes.js";
import { networkOf } from "../network.js";
import type { RunEffort } from "../open-run.js";
import type { RunCompaction } from "../parts/compaction.js";
import type { RunCosts } from "../parts/costs.js";
import type { RunRecording } from "../parts/recording.js";
import type { RunSecurity } from "../parts/security.js";
import type { SessionStores } from "../sessions/session-stores.js";
import { EFFORTS } from "../settings/setting-readers.js";
import type { Settings } from "../settings/settings.js";

export interface SlashFacts {
  readonly run: Run;
  readonly settings: Settings;
  readonly root: string;
  readonly registry: ModelRegistry;
  /** Instruction files in use. */
  readonly files?: readonly string[] | undefined;
  readonly routes: ModelRoutes;
  readonly recording: RunRecording;
  readonly security: RunSecurity;
  readonly costs: RunCosts;
  readonly compaction: RunCompaction;
  readonly effort: RunEffort;
  readonly variables: Variables;
  readonly roots: Roots;
  readonly sessions: SessionStores;
}

export function slashContext(facts: SlashFacts): SlashContext {
  const { run, settings, root, registry, routes, files = [], recording, security, costs, variables, roots } = facts;
  const thinking = () => (facts.effort.level === undefined ? "as it likes" : `with ${facts.effort.level} effort`);
  const currentModel = () => `${run.model.provider}:${run.model.model}`;
  return {
    currentModel,
    status: () => [
      ["model", currentModel()],
      ["effort", facts.effort.level ?? "as the model likes"],
      ["workspace", root],
      ["session", run.session],
      ["messages", String(run.conversation.length)],
      [
        "tools",
        run.tools
          .list()
          .map((tool) => tool.name)
          .join(", "),
      ],
      ["permissions", settings.permission_mode.value],
      ["instructions", files.join(", ") || "none"],
      ["recording", recording.status()],
    ],
    recording,
    security,
    costs,
    compaction: {
      compact: async (focus) => (await import("./compaction-commands.js")).compactCommand(focus, facts),
      summarize: async (focus) => (await import("./compaction-commands.js")).summarizeCommand(focus, facts),
    },
    async setModel(spec): Promise<SlashResult> {
      const found = await routes.resolve(spec);
      const resolved = found ?? (await (/^\d+$/.test(spec) ? registry.numbered(Number(spec)) : registry.resolve(spec)));
      if ("failure" in resolved) return resolved;
      run.model = resolved.model;
      return { text: `The next turn uses ${currentModel()}.` };
    },
    effort(level): SlashResult {
      if (level === "") return { text: `${currentModel()} thinks ${thinking()}. Change it: /effort LEVEL` };
      const known = EFFORTS.find((effort) => effort === level);
      if (known === undefined && level !== "auto") {
        const detail = `There is no effort "${level}": give ${EFFORTS.join(", ")} or auto.`;
        return { failure: failure("InvalidInput", { detail }) };
      }
      facts.effort.level = known;
      return { text: `From the next turn on the model thinks ${thinking()}.` };
    },
    async ollama(args): Promise<SlashResult> {
      const { OllamaControl } = await import("./ollama-control.js");
      const http = createHttpClient({ clock: nodeClock, network: networkOf(variables) });
      const control = new OllamaControl({ variables, roots, http, clock: nodeClock, workspace: root });
      const words = args.split(/\s+/).filter((word) => word !== "");
      const progress = (message: string) => run.bus.publish("Notice", { level: "progress", message });
      try {
        return await run.aside((signal) =>
          control.run(words, { progress, signal, use: (spec) => this.setModel(spec) }),
        );
      } finally {
        http.close();
      }
    },
    undo: async (args) =>
      (await import("./undo-command.js")).undoCommand(args, {
        sessions: facts.sessions,
        session: run.session,
        ...{ root, variables },
      }),
    route: async (words) => (await import("./route-command.js")).routeCommand(words, routes),
    listModels: () => registry.menu(),
    bench: async (args) => (await import("./bench-aside.js")).benchAside(args, { run, registry }),
    async shell(command): Promise<SlashResult> {
      const bash = run.tools.find("bash");
      if (bash === undefined) return { failure: failure("InvalidInput", { detail: "The tool set 'command' is off." }) };
      const call = run.newCall();
      const tool = bash.name;
      const refusal = await security.refusalOf(command);
      run.bus.publish("ToolCallStarted", { call, tool, args: { command } });
      if (refusal !== undefined) {
        const content = [ownText(refusal)];
        run.bus.publish("ToolResult", { call, tool, status: "denied", content, decided_by: "safe mode" });
        return { failure: failure("InvalidInput", { detail: refusal }) };
      }
      const outcome = await run.aside((signal) =>
        // What a person types runs with their own rights.
        bash.run(
          { command, outside_sandbox: true },
          { signal, byPerson: true, progress: (text) => run.bus.publish("ToolCallProgress", { call, text }) },
        ),
      );
      const { status, content, details } = outcome;
      run.bus.publish("ToolResult", {
        call,
        tool,
        status,
        content,
        ...(details && { details }),
        decided_by: "person",
      });
      const words = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
      return { text: words };
    },
  };
}
