/** `/plan`: plan mode on, its state, and the approval of a plan, which begins the work. */
import { PLAN_APPROVE, PLAN_OFF, PLAN_ON, PLAN_STATUS } from "../../commands/catalogue/security.js";
import { type Command, refuse } from "../../commands/command.js";
import type { Run } from "../../control/run.js";
import type { ClientId } from "../../protocol/ids.js";

interface PlanPort {
  readonly run: Run;
  readonly isOn: () => boolean;
  /** The user who has the session open. */
  readonly person: ClientId;
}

/** The registry refuses agents, so a person approves. */
export function planCommands({ run, isOn, person }: PlanPort): readonly Command[] {
  const client = { id: person, identity: "human" } as const;
  const state = () => ({
    text: isOn()
      ? "Plan mode is on: Oxbow changes nothing until you approve a plan. /plan approve carries it out."
      : "Plan mode is off.",
    value: { on: isOn() },
  });
  return [
    { ...PLAN_STATUS, run: state },
    {
      ...PLAN_ON,
      run: async () => {
        const refusal = await run.enterPlan(client);
        return refusal === undefined ? state() : refuse(refusal);
      },
    },
    {
      ...PLAN_OFF,
      run: async () => {
        const left = await run.exitPlan(client, { approve: true });
        return "refused" in left ? refuse(left.refused) : state();
      },
    },
    {
      ...PLAN_APPROVE,
      run: async () => {
        const left = await run.exitPlan(client, { approve: true });
        if ("refused" in left) return refuse(left.refused);
        const { work } = left;
        return work === undefined ? state() : { ...state(), turn: { input: work.content, notice: work.notice } };
      },
    },
  ];
}
