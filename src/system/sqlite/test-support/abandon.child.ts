/** Leaves a database with a write-ahead log that was never merged. Argument: path. */
import { writeSync } from "node:fs";
import { Database } from "../database.js";

const database = await Database.open({ path: process.argv[2] ?? "", key: new Uint8Array(32).fill(1) });
database.script("CREATE TABLE t (a TEXT) STRICT");
for (let i = 0; i < 200; i++) database.run("INSERT INTO t VALUES (?)", ["some text ".repeat(20)]);
writeSync(1, "written");
process.kill(process.pid, "SIGKILL");
