/** Folds a chain of links around the thing they wrap. The first link of the list is the outermost. */
import type { Link } from "./ports.js";
import type { Timing } from "./timing.js";

interface Measured {
  readonly timing: Timing;
  readonly prefix: string;
}

export function compose<Input, Context, Output>(
  links: readonly Link<Input, Context, Output>[],
  terminal: (input: Input, context: Context) => Promise<Output>,
  measured: Measured,
): (input: Input, context: Context) => Promise<Output> {
  const enter = (index: number, input: Input, context: Context): Promise<Output> => {
    const link = links[index];
    if (link === undefined) return terminal(input, context);
    return ownTime(measured, link.name, (inside) =>
      link.run(input, context, (inner, narrowed) => inside(() => enter(index + 1, inner, narrowed ?? context))),
    );
  };
  return (input, context) => enter(0, input, context);
}

/** A link's time excludes the time of what it wraps. */
async function ownTime<Output>(
  { timing, prefix }: Measured,
  name: string,
  run: (inside: (inner: () => Promise<Output>) => Promise<Output>) => Promise<Output>,
): Promise<Output> {
  const from = timing.now();
  let within = 0;
  try {
    return await run(async (inner) => {
      const entered = timing.now();
      try {
        return await inner();
      } finally {
        within += timing.now() - entered;
      }
    });
  } finally {
    timing.add(`${prefix}/${name}`, timing.now() - from - within);
  }
}
