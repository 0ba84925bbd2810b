/** `/agents` and `oxbow agents`: the types of subagents of a place. */
import { renderTable } from "../../base/text-table.js";
import { AGENTS } from "../../commands/catalogue/agents.js";
import { asValue, type Command } from "../../commands/command.js";
import type { AgentType } from "../../extensions/subagents/agent-type.js";
import { type AgentTypes, agentTypes } from "../../extensions/subagents/agent-types.js";
import type { Opening } from "../opening.js";

export function agentCommands({ extensions }: Pick<Opening, "extensions">): readonly Command[] {
  return [
    agentsCommand(async () => {
      await extensions.refresh();
      return agentTypes(extensions.of("agent"));
    }),
  ];
}

export function agentsCommand(find: () => Promise<AgentTypes>): Command {
  return {
    ...AGENTS,
    run: async (_args, { warn, screen }) => {
      const { types, shadowed, faults } = await find();
      for (const { path, fault } of faults) warn(`${path}: ${fault}.`);
      const rows = types.map((type) => ({ type, shadows: shadowed.filter(({ name }) => name === type.name) }));
      const text = renderTable(
        [
          { header: "TYPE", value: ({ type }) => type.name, priority: 9 },
          { header: "TOOLS", value: ({ type }) => toolsText(type), priority: 4, maxWidth: 30 },
          { header: "MODEL", value: ({ type }) => type.model ?? "inherit", priority: 5 },
          { header: "FROM", value: ({ type }) => place(type), priority: 6 },
          { header: "SHADOWS", value: ({ shadows }) => shadows.map(place).join(", "), priority: 3 },
          { header: "DESCRIPTION", value: ({ type }) => type.description, priority: 7, minWidth: 20 },
        ],
        rows,
        { width: screen?.width, color: screen?.color ?? false },
      );
      return { text, value: asValue(rows.map(asData)) };
    },
  };
}

function place({ scope, path }: AgentType): string {
  return path ?? scope;
}

function toolsText({ tools, without }: AgentType): string {
  const allowed = tools?.join(", ") ?? "all";
  return without.length === 0 ? allowed : `${allowed} without ${without.join(", ")}`;
}

function asData({ type, shadows }: { readonly type: AgentType; readonly shadows: readonly AgentType[] }) {
  const { name, description, scope, path, tools, without, model, isolation } = type;
  return {
    ...{ name, description, scope, path: path ?? null },
    ...{ tools: tools ?? null, without, model: model ?? null, isolation: isolation ?? null },
    shadows: shadows.map(place),
  };
}
