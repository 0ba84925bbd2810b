/** The environment of an `ollama serve` that Oxbow starts. */
import type { Variables } from "../../base/variables.js";

const SERVICE_VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|LANG|TMPDIR|LD_LIBRARY_PATH|XDG_\w+|(HTTPS?|NO)_PROXY|SSL_CERT_(FILE|DIR)|(OLLAMA|CUDA|HIP|ROCR|HSA|GGML|NVIDIA|GPU)_\w+)$/i;

/** Ollama needs its own settings and the variables for its GPUs and models, and none of our keys. */
export function serviceEnvironment(variables: Variables): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (value !== undefined && SERVICE_VARIABLES.test(name) && !/KEY|TOKEN|SECRET/i.test(name)) out[name] = value;
  }
  return out;
}
