#!/usr/bin/env node
// An executable provider: the whole protocol in one file. It answers "read FILE" with a call of the tool `read`, tells what a
// tool returned, and repeats anything else. docs/own-provider.md explains each part.
import process from "node:process";
import { text } from "node:stream/consumers";

const FLAGS = {
  "--describe": () => console.log("Parrot: repeats what you say, for trying out executable providers"),
  "--defaults": () => console.log("model=grey\ncontext_tokens=8000\ntimeout=1m"),
  "--env": () => console.log("PARROT_VOICE what it says before it repeats you (default: Squawk!)"),
  "--ready": () => {
    if (process.env.PARROT_VOICE !== "") return;
    console.error("PARROT_VOICE is empty: give the parrot a voice, or unset it");
    process.exitCode = 1;
  },
};

function write(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** The newest message of the user: a text, or the results of the calls before it. */
function answer({ messages, tools }) {
  const blocks = messages.at(-1)?.content ?? [];
  const result = blocks.findLast((block) => block.type === "tool_result");
  if (result !== undefined) {
    const said = result.content.map((block) => block.text ?? "(an image)").join("\n");
    return [{ type: "text", text: `${result.tool} said: ${said}` }];
  }
  const said = blocks.findLast((block) => block.type === "text")?.text ?? "";
  const path = /^read (\S+)$/.exec(said)?.[1];
  if (path !== undefined && tools.some((tool) => tool.name === "read")) {
    return [
      { type: "thinking", text: `A parrot cannot read ${path} without a tool.` },
      { type: "tool_call", tool: "read", args: { path } },
    ];
  }
  const voice = process.env.PARROT_VOICE ?? "Squawk!";
  return [voice, ...said.split(/(?= )/)].map((piece, i) => ({ type: "text", text: i === 1 ? ` ${piece}` : piece }));
}

const [flag] = process.argv.slice(2);
if (FLAGS[flag] !== undefined) {
  FLAGS[flag]();
} else {
  const request = JSON.parse(await text(process.stdin));
  const usage = { input: Math.ceil(JSON.stringify(request).length / 4), output: 10 };
  const blocks = answer(request);
  if (flag === "--stream") {
    for (const block of blocks) write(block);
    write({ type: "usage", ...usage });
    write({ type: "stop" });
  } else {
    write({ content: blocks, usage });
  }
}
