/** Commands about the engine that hosts the session. */
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";

const EVERYONE: readonly CommandUser[] = ["people", "agents"];
const ANY_TIME: readonly CommandPlace[] = ["during a turn", "between turns"];

export const CLIENTS: CommandSpec = {
  name: "clients",
  summary: "show who is connected to the engine, and who is in this session",
  users: EVERYONE,
  reaches: "user",
  places: ANY_TIME,
};

export const WEB: CommandSpec = {
  name: "web",
  summary: "show and copy the address at which other programs reach this engine over HTTP",
  users: EVERYONE,
  reaches: "user",
  places: ANY_TIME,
};

export const HEALTH: CommandSpec = {
  name: "health",
  summary: "show the state of the engine and of each of its parts",
  users: EVERYONE,
  reaches: "user",
  places: ANY_TIME,
};
