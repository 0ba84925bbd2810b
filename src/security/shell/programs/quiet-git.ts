/** For the environment of commands that run without asking. A repository cannot override this configuration. */
export const QUIET_GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: "4",
  GIT_CONFIG_KEY_0: "log.showSignature",
  GIT_CONFIG_VALUE_0: "false",
  GIT_CONFIG_KEY_1: "core.fsmonitor",
  GIT_CONFIG_VALUE_1: "false",
  GIT_CONFIG_KEY_2: "safe.bareRepository",
  GIT_CONFIG_VALUE_2: "explicit",
  GIT_CONFIG_KEY_3: "format.pretty",
  GIT_CONFIG_VALUE_3: "medium",
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
};
