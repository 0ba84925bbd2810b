import { constants } from "node:os";

export function signalName(number: number): NodeJS.Signals | undefined {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] as NodeJS.Signals | undefined;
}
