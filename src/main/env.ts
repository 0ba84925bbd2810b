/** The only reader of the process environment. Everything else gets what it needs as a parameter. */
import type { Variables } from "../base/variables.js";

export function environment(): Variables {
  return process.env;
}
