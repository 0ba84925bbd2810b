/** How much memory a model on this machine could take. */
import { existsSync } from "node:fs";
import type { LocalOptions } from "../local/local-ollama.js";
import { isLoopback } from "../named.js";

/** There when a driver for NVIDIA's or AMD's cards is loaded. */
const GPU_FOLDERS = ["/proc/driver/nvidia/gpus", "/sys/class/kfd/kfd/topology/nodes/1"];

/** Only of this machine, and only when nothing but its main memory can hold a model. */
export function memoryFor(baseUrl: string): Pick<LocalOptions, "availableMemory"> {
  if (!isLoopback(baseUrl) || GPU_FOLDERS.some((folder) => existsSync(folder))) return {};
  return { availableMemory: () => process.availableMemory() };
}
