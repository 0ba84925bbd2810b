/**
 * Many readers of server-sent events in a process of their own: `node sse-readers.mjs SOCKET TOKEN READERS STOPPED SESSION…`.
 * It prints `ready` when all follow, `ended` when all have the end of a turn, and at the end of its input one line of JSON: what was lost,
 * doubled or late.
 */
import { request } from "node:http";

const [socketPath, token, count, stopped, ...sessions] = process.argv.slice(2);
const readers = [];
let open = 0;

function take(reader, line) {
  if (!line.startsWith("data: ")) return;
  const { id, ts, kind } = JSON.parse(line.slice(6));
  if (id !== reader.last + 1) reader.wrong += 1;
  reader.last = id;
  reader.delays.push(Date.now() - Date.parse(ts));
  if (kind !== "TurnEnded") return;
  reader.ended = true;
  if (readers.every(({ ended }) => ended)) process.stdout.write("ended\n");
}

function follow(index) {
  const session = sessions[index % sessions.length];
  const reader = { session, last: 0, wrong: 0, ended: false, delays: [] };
  const path = `/v1/sessions/${session}/events`;
  const headers = { "x-oxbow-token": token, host: "localhost" };
  const sent = request({ socketPath, path, headers, agent: false }, (response) => {
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    open += 1;
    if (open === Number(count)) process.stdout.write("ready\n");
    // A few do not read.
    if (index % 49 === 7 && stopped === "some") return;
    let rest = "";
    response.setEncoding("utf8");
    response.on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) take(reader, line);
    });
    readers.push(reader);
  });
  sent.end();
}

for (let i = 0; i < Number(count); i++) follow(i);

process.stdin.resume();
process.stdin.on("end", () => {
  const delays = readers.flatMap((reader) => reader.delays).sort((a, b) => a - b);
  const report = {
    readers: readers.length,
    events: delays.length,
    wrong: readers.reduce((sum, { wrong }) => sum + wrong, 0),
    unfinished: readers.filter(({ ended }) => !ended).length,
    last: Object.fromEntries(readers.map(({ session, last }) => [session, last])),
    p50: delays[Math.floor(delays.length * 0.5)],
    p99: delays[Math.floor(delays.length * 0.99)],
  };
  process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
});
