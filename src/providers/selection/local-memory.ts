/** Describes how much memory a model on this machine could use. */
import { existsSync } from "node:fs";
import type { LocalOptions } from "../local/local-ollama.js";
import { isLoopback } from "../named.js";

/** These exist if a driver for NVIDIA's or AMD's cards is loaded. */
const GPU_FOLDERS = ["/proc/driver/nvidia/gpus", "/sys/class/kfd/kfd/topology/nodes/1"];

/** Only for a server on this machine, and only if it has no GPU memory for models. */
export function memoryFor(baseUrl: string): Pick<LocalOptions, "availableMemory"> {
  if (!isLoopback(baseUrl) || GPU_FOLDERS.some((folder) => existsSync(folder))) return {};
  return { availableMemory: () => process.availableMemory() };
}
