/** `/route` (feature M8). */
import type { SlashCommand } from "./registry.js";

export const route: SlashCommand = {
  name: "route",
  usage: "/route [list | add NAME MODEL… | remove NAME | enable NAME | disable NAME]",
  summary: "named models: '@NAME …' asks one for a single turn, several in a row stand in for each other",
  forPeople: true,
  run: (args, context) => context.route(args.trim().split(/\s+/).filter(Boolean)),
};
