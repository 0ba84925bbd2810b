/** A user who owns no file. */
const OTHER_USER = 65_534;

/** Runs an action with the rights of an ordinary user: root may write everywhere, so a refusal could not be seen. */
export async function asOrdinaryUser<T>(action: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return action();
  process.seteuid?.(OTHER_USER);
  try {
    return await action();
  } finally {
    process.seteuid?.(0);
  }
}
