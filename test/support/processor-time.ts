/**
 * Milliseconds of the processor that an action takes in this process: other programs use the machine too. V8 may collect the
 * garbage of other tests meanwhile, which takes some hundred milliseconds: a limit must leave room for that.
 */
export function processorMs(action: () => void): number {
  const begun = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}
