// The floor: what a loop over a model costs in bare Node, with nothing around it. One file, no checks, no options.
// It speaks Chat Completions, streams the text to stdout, runs each `bash` call with sh, and stops when there is none.
import { spawn } from "node:child_process";
import http from "node:http";

const base = new URL(process.env.OPENAI_BASE_URL);
const agent = new http.Agent({ keepAlive: true });
const messages = [{ role: "user", content: process.argv[2] }];
const tools = [
  {
    type: "function",
    function: {
      name: "bash",
      description: "Run a shell command.",
      parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
    },
  },
];

function ask() {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ model: "m", stream: true, stream_options: { include_usage: true }, messages, tools });
    const request = http.request(
      {
        agent,
        host: base.hostname,
        port: base.port,
        path: `${base.pathname}/chat/completions`,
        method: "POST",
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      },
      (response) => {
        let held = "";
        let text = "";
        const calls = [];
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          held += chunk;
          const lines = held.split("\n");
          held = lines.pop();
          for (const line of lines) {
            if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
            const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
            if (delta?.content) {
              text += delta.content;
              process.stdout.write(delta.content);
            }
            for (const call of delta?.tool_calls ?? []) {
              calls[call.index] ??= { id: call.id, type: "function", function: { name: "", arguments: "" } };
              calls[call.index].function.name += call.function?.name ?? "";
              calls[call.index].function.arguments += call.function?.arguments ?? "";
            }
          }
        });
        response.on("end", () => resolve({ text, calls }));
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

function run(command) {
  return new Promise((resolve) => {
    const child = spawn("sh", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr.on("data", (chunk) => {
      output += chunk;
    });
    child.on("close", () => resolve(output));
  });
}

for (;;) {
  const { text, calls } = await ask();
  messages.push({ role: "assistant", content: text || null, ...(calls.length > 0 && { tool_calls: calls }) });
  if (calls.length === 0) break;
  for (const call of calls) {
    const content = await run(JSON.parse(call.function.arguments).command);
    messages.push({ role: "tool", tool_call_id: call.id, content });
  }
}
