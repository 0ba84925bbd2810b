/** Permissions, safe mode, plan mode and audit. */
import type { CommandPlace, CommandSpec, CommandUser } from "../command.js";
import type { Flag } from "../flags.js";

const EVERYONE: readonly CommandUser[] = ["people", "agents"];
const PEOPLE: readonly CommandUser[] = ["people"];
const READ_ONLY: readonly CommandUser[] = ["people", "agents in the shell"];
const ANY_TIME: readonly CommandPlace[] = ["during a turn", "between turns"];
const ANYWHERE: readonly CommandPlace[] = [...ANY_TIME, "without a session"];

const SHELL_FLAGS: readonly Flag[] = [
  {
    name: "permission-mode",
    value: "MODE",
    choices: ["auto", "review", "ask", "allow", "deny"],
    help: "decide as a run with this mode would",
  },
  { name: "strict-permissions", help: "decide as a run with this flag would" },
  { name: "cwd", value: "DIR", complete: "folder", help: "the workspace (default: the current folder)" },
  { name: "store", value: "STORE", help: "where 'replay' finds the session" },
];

export const PERMISSIONS_NAMESPACE = { permissions: "show, test and change what may run without asking" };

export const PERMISSIONS_LIST: CommandSpec = {
  name: "permissions:list",
  aliases: ["permissions"],
  summary: "show the mode, rules, session rules and path permissions (the default)",
  shellFlags: SHELL_FLAGS,
  reaches: "session",
  users: READ_ONLY,
  places: ANYWHERE,
};

export const PERMISSIONS_TEST: CommandSpec = {
  name: "permissions:test",
  summary: "show the decision about a shell command, and the reason",
  arguments: [{ name: "COMMAND", kind: "text", rest: "text" }],
  shellFlags: SHELL_FLAGS,
  reaches: "session",
  users: READ_ONLY,
  places: ANYWHERE,
};

export const PERMISSIONS_REPLAY: CommandSpec = {
  name: "permissions:replay",
  summary: "show what today's rules would decide about the calls of a session",
  arguments: [{ name: "SESSION", kind: "text", complete: "session" }],
  shellFlags: SHELL_FLAGS,
  users: READ_ONLY,
  reaches: "user",
  places: ANYWHERE,
};

export const PERMISSIONS_SET: CommandSpec = {
  name: "permissions:set",
  summary: "set the permissions below PATH: letters of rwxd, or none",
  arguments: [
    { name: "PATH", kind: "path", rest: "text", complete: "file" },
    { name: "PERMS", kind: "text", complete: ["r", "rw", "rwx", "rwxd", "none"] },
  ],
  shellFlags: SHELL_FLAGS,
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const PERMISSIONS_RESET: CommandSpec = {
  name: "permissions:reset",
  summary: "remove one path permission, or all",
  arguments: [{ name: "PATH", kind: "path", rest: "text", optional: true, complete: "file" }],
  shellFlags: SHELL_FLAGS,
  users: PEOPLE,
  reaches: "user",
  places: ANYWHERE,
};

export const PERMISSIONS_REVOKE: CommandSpec = {
  name: "permissions:revoke",
  summary: "remove a rule of this session, or all",
  arguments: [{ name: "N", kind: "text", complete: ["all"] }],
  reaches: "session",
  users: PEOPLE,
  places: ANY_TIME,
};

export const PERMISSIONS_PROMOTE: CommandSpec = {
  name: "permissions:promote",
  summary: "keep a rule of this session: for you everywhere, or for you in this project",
  arguments: [
    { name: "N", kind: "text" },
    { name: "WHERE", kind: "text", optional: true },
  ],
  users: PEOPLE,
  reaches: "user",
  places: ANY_TIME,
};

export const PORTS_NAMESPACE = { ports: "show and open ports that commands of this session listen on" };

const PORT = [{ name: "PORT", kind: "number" }] as const;

export const PORTS_LIST: CommandSpec = {
  name: "ports:list",
  aliases: ["ports"],
  summary: "show the ports that listen in this session, and which are open (the default)",
  reaches: "session",
  users: PEOPLE,
  places: ANY_TIME,
};

export const PORTS_OPEN: CommandSpec = {
  name: "ports:open",
  summary: "let your programs reach a port of this session at 127.0.0.1",
  arguments: PORT,
  reaches: "user",
  users: PEOPLE,
  places: ANY_TIME,
};

export const PORTS_CLOSE: CommandSpec = {
  name: "ports:close",
  summary: "close a port that you opened",
  arguments: PORT,
  reaches: "user",
  users: PEOPLE,
  places: ANY_TIME,
};

export const KEEP: CommandSpec = {
  name: "keep",
  summary: "apply what the last command wrote that was cancelled or ran out of time",
  reaches: "user",
  users: PEOPLE,
  places: ANY_TIME,
};

export const SAFEMODE_NAMESPACE = { safemode: "run only listed commands, for you and for the model" };

/** They apply to all sessions of the folder. */
const SHARED = { reaches: "user" } as const;

const safeMode = (
  action: string,
  spec: Omit<CommandSpec, "name" | "users" | "places">,
  users = PEOPLE,
): CommandSpec => ({
  name: `safemode:${action}`,
  shellFlags: SHELL_FLAGS,
  users,
  places: ANYWHERE,
  ...spec,
  aliases: [`permissions:safemode:${action}`, ...(spec.aliases ?? [])],
});

export const SAFEMODE_STATUS = safeMode(
  "status",
  {
    aliases: ["safemode", "permissions:safemode"],
    summary: "show whether safe mode is on, and its list (the default)",
    reaches: "session",
  },
  READ_ONLY,
);
export const SAFEMODE_ON = safeMode("on", { ...SHARED, summary: "switch safe mode on" });
export const SAFEMODE_OFF = safeMode("off", { ...SHARED, summary: "switch safe mode off" });
const PROGRAM = [{ name: "PROGRAM", kind: "text", complete: "program" }] as const;
export const SAFEMODE_ALLOW = safeMode("allow", {
  ...SHARED,
  summary: "add a program to the list",
  arguments: PROGRAM,
});
export const SAFEMODE_DENY = safeMode("deny", {
  ...SHARED,
  summary: "remove a program from the list",
  arguments: PROGRAM,
});
export const SAFEMODE_RESET = safeMode("reset", {
  ...SHARED,
  summary: "switch safe mode off and restore the built-in list",
});

export const PLAN_NAMESPACE = { plan: "plan first: Oxbow changes nothing until you approve" };

export const PLAN_ON: CommandSpec = {
  name: "plan:on",
  summary: "plan only",
  reaches: "session",
  sends: "EnterPlanMode",
  users: PEOPLE,
  places: ANY_TIME,
};
export const PLAN_APPROVE: CommandSpec = {
  name: "plan:approve",
  summary: "approve the plan and carry it out",
  reaches: "session",
  sends: "ExitPlanMode",
  users: PEOPLE,
  places: ANY_TIME,
};
export const PLAN_OFF: CommandSpec = {
  name: "plan:off",
  summary: "leave plan mode without carrying out a plan",
  reaches: "session",
  sends: "ExitPlanMode",
  users: PEOPLE,
  places: ANY_TIME,
};
export const PLAN_STATUS: CommandSpec = {
  name: "plan:status",
  aliases: ["plan"],
  summary: "show whether plan mode is on",
  reaches: "session",
  users: PEOPLE,
  places: ANY_TIME,
};

export const WHY: CommandSpec = {
  name: "why",
  summary: "show why the last call, or CALL, was allowed, asked about or denied",
  arguments: [{ name: "CALL", kind: "text", optional: true }],
  reaches: "session",
  users: EVERYONE,
  places: ANY_TIME,
};

export const SECURITY: CommandSpec = {
  name: "security",
  summary: "show the sandbox, permissions, safe mode and audit at a glance",
  reaches: "session",
  users: EVERYONE,
  places: ANY_TIME,
};

export const DEBUG_RAW: CommandSpec = {
  name: "debug:raw",
  summary: "write the raw model traffic of this session to an encrypted file, unredacted, or stop it",
  arguments: [{ name: "STATE", kind: "choice", optional: true, complete: ["on", "off"] }],
  reaches: "user",
  users: ["people"],
  places: ["during a turn", "between turns"],
};
