/** The PATH for programs that every system has: one of that name in the user's PATH could come from a project. */
export const SYSTEM_PATH =
  "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/run/current-system/sw/bin:/run/current-system/profile/bin";
