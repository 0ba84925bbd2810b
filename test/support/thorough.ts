/**
 * How often something is tried. The suite has five minutes on two cores, so it takes a sample of what takes long;
 * OXBOW_TEST_THOROUGH=1 takes all.
 */
export const isThorough = process.env.OXBOW_TEST_THOROUGH === "1";

export function times(usual: number, thorough: number): number {
  return isThorough ? thorough : usual;
}

/** Every third one, the first and the last included. */
export function sample<T>(all: readonly T[]): readonly T[] {
  return isThorough ? all : all.filter((_, index) => index % 3 === 0 || index === all.length - 1);
}
