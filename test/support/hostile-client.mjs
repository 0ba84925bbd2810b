// Sends hostile requests from a process of its own, so that the time of the processor in the test is the server's alone.
// Each line of standard input is a request; each line of standard output is its answer.
import { request } from "node:http";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

const MB = 1024 * 1024;
/** Values of JSON as texts, up to the largest body. */
const VALUES = {
  "a long text": () => JSON.stringify("x".repeat(15 * MB)),
  "a long text of another alphabet": () => JSON.stringify("\u{1F600}".repeat(3.5 * MB)),
  "a text of escapes": () => `"${'\\"'.repeat(7 * MB)}"`,
  "many objects": () => `[${"{},".repeat(5 * MB)}{}]`,
  "as many objects as are allowed": () => `[${"{},".repeat(24_000)}{}]`,
  "many numbers": () => `[${"1,".repeat(49_000)}1]`,
  "many names": () => `{${Array.from({ length: 40_000 }, (_, index) => `"name${index}":${index}`).join(",")}}`,
  "long names": () => `{${Array.from({ length: 900 }, (_, index) => `"${"k".repeat(15_000)}${index}":1`).join(",")}}`,
  "deep lists": () => "[".repeat(8 * MB),
  "the deepest that is allowed": () => `${'{"a":'.repeat(90)}1${"}".repeat(90)}`,
  "a long line": () => JSON.stringify(`/${"x".repeat(60_000)}`),
};

const made = new Map();
function textOf(name) {
  if (!made.has(name)) made.set(name, VALUES[name]());
  return made.get(name);
}

function post({ port, token, method, path, body }) {
  return new Promise((resolve) => {
    const headers = { "x-oxbow-token": token, "content-length": Buffer.byteLength(body) };
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      response.resume();
      response.on("end", () => resolve(String(response.statusCode)));
    });
    // A server that refuses a body closes the connection while it is still sent.
    sent.on("error", (error) =>
      resolve(error.code === "EPIPE" || error.code === "ECONNRESET" ? "closed" : error.message),
    );
    sent.end(body);
  });
}

async function overSocket({ port, token, bodies }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws`, { headers: { "x-oxbow-token": token } });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const answers = [];
  const all = new Promise((resolve) => {
    socket.on("message", (data) => {
      const { frame, id } = JSON.parse(data);
      if (frame === "event") return;
      answers.push(id ?? frame);
      if (answers.length === bodies.length + 1) resolve();
    });
    socket.once("close", resolve);
  });
  socket.send('{"frame":"handshake","body":{"protocol_version":"0.2.0"}}');
  for (const body of bodies) socket.send(body);
  await all;
  socket.close();
  return answers.length;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { value, template, bodies, ...asked } = JSON.parse(line);
  const filled = (text, name) => text.replaceAll("VALUE", () => textOf(name));
  const answer =
    bodies === undefined
      ? await post({ ...asked, body: filled(template, value) })
      : await overSocket({ ...asked, bodies: bodies.map((each) => filled(each.template, each.value)) });
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
