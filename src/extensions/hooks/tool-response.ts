/** The result of a call in the form that hooks get. */
import type { JsonObject } from "../../protocol/json.js";

export interface ResultForHooks {
  /** Oxbow's name of the tool. */
  readonly tool: string;
  readonly input: JsonObject;
  readonly text: string;
  readonly details: JsonObject | undefined;
}

export function toolResponse({ tool, input, text, details = {} }: ResultForHooks): JsonObject {
  if (tool === "bash") {
    const { exit_code = null } = details;
    return { success: true, stdout: text, stderr: "", interrupted: false, isImage: false, exit_code };
  }
  const { file_path } = input;
  if (typeof file_path === "string" && tool !== "read") return { filePath: file_path, success: true, content: text };
  return { success: true, content: text };
}
