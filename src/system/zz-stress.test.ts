import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runProcess } from "./process-group.js";

function withTag(t: string) {
  const f: string[] = [];
  for (const n of readdirSync("/proc")) {
    if (!/^\d+$/.test(n)) continue;
    try {
      const s = readFileSync(`/proc/${n}/stat`, "latin1");
      if (/\) [ZX]/.test(s)) continue;
      if ((readFileSync(`/proc/${n}/environ`) + readFileSync(`/proc/${n}/cmdline`, "latin1")).includes(t))
        f.push(n + " " + s);
    } catch {}
  }
  return f;
}
it("stress", async () => {
  const commands = [
    "setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo x",
    "(setsid bash -c 'sleep 1000 & sleep 1000 &' >/dev/null 2>&1 &); echo x",
    "setsid -f sleep 1000 >/dev/null 2>&1",
    "(setsid setsid -f setsid -f sleep 1000 >/dev/null 2>&1 </dev/null &)",
    "nohup setsid sleep 1000 >/dev/null 2>&1 & :",
    'perl -e \'use POSIX; exit if fork; POSIX::setsid(); exit if fork; chdir "/"; close STDIN; close STDOUT; close STDERR; for(3..255){POSIX::close($_)} exec("sleep","1000")\'',
  ];
  let bad = 0;
  const t0 = performance.now();
  const worker = async (w: number) => {
    for (let i = 0; i < 600; i++) {
      const tag = `tag-${w}-${i}-${Math.random()}`;
      const c = commands[(i + w) % commands.length]!;
      const end = await runProcess({
        argv: ["/bin/bash", "-c", c],
        cwd: "/",
        env: { PATH: process.env.PATH!, TAGX: tag },
        onOutput() {},
        drainMs: 5,
      });
      const left = withTag(tag);
      if (left.length) {
        bad++;
        console.log(c, end, left);
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map(worker));
  console.log("bad", bad, Math.round(performance.now() - t0));
  expect(bad).toBe(0);
}, 300000);
