/** `/permissions`, `/safemode`, `/audit`, `/why`, `/plan` and `/security` (features P2, P5–P7, L16). For people, never for the model. */
import type { SlashCommand } from "./registry.js";

export const securityCommands: readonly SlashCommand[] = [
  {
    name: "permissions",
    forPeople: true,
    usage: "/permissions [set PATH rwxd | reset | revoke N | promote N | test COMMAND]",
    summary: "what may run unasked, and changing that",
    run: (args, { security }) => security.permissions(args),
  },
  {
    name: "safemode",
    forPeople: true,
    usage: "/safemode on | off | status | allow CMD | deny CMD | reset",
    summary: "only listed commands run, for you and for the model",
    run: (args, { security }) => security.safeMode(args),
  },
  {
    name: "plan",
    forPeople: true,
    usage: "/plan [on | approve | status]",
    summary: "plan first: nothing is changed until you approve",
    run: (args, { security }) => security.plan(args),
  },
  {
    name: "audit",
    forPeople: true,
    usage: "/audit show [N] | clear | status",
    summary: "what was allowed, denied and run",
    run: (args, { security }) => security.audit(args),
  },
  {
    name: "why",
    usage: "/why [CALL]",
    summary: "why the last call was allowed, asked about or denied",
    run: (args, { security }) => security.why(args),
  },
  {
    name: "security",
    usage: "/security",
    summary: "sandbox, permissions, safe mode and audit at a glance",
    run: (_args, { security }) => security.overview(),
  },
];
