/**
 * Milliseconds of the processor that an action takes in this process: other programs use the machine too. V8 may collect the
 * garbage of other tests meanwhile, which takes some hundred milliseconds: a limit must leave room for that.
 */
export function processorMs(action: () => void): number {
  const begun = process.cpuUsage();
  action();
  return since(begun);
}

/** The same for an action that waits. */
export async function processorMsOf(action: () => Promise<void>): Promise<number> {
  const begun = process.cpuUsage();
  await action();
  return since(begun);
}

function since(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
