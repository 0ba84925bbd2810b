/** Ways to find the nearest of many vectors, beside each other. */
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DIMENSIONS, KEY } from "./code.mjs";

export function compareVectors(code, { folder, count }) {
  const texts = Array.from({ length: count }, (_, i) =>
    Array.from({ length: 12 }, (_, n) => `w${Math.imul(i * 31 + n * 7, 2654435761) >>> 20}`).join(" "),
  );
  const all = texts.map((text) => code.hashEmbedding(text, DIMENSIONS));
  const asked = Array.from({ length: 20 }, (_, i) => all[Math.floor((i * count) / 20)]);
  const show = (name, times) =>
    process.stdout.write(
      `${name.padEnd(34)} ${times.sort((a, b) => a - b)[Math.floor(times.length / 2)].toFixed(1)} ms\n`,
    );
  const time = (name, work) => {
    work(asked[0]);
    show(
      name,
      asked.map((query) => {
        const at = performance.now();
        work(query);
        return performance.now() - at;
      }),
    );
  };
  const dot = (one, other) => {
    let sum = 0;
    for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
    return sum;
  };
  time(
    "plain scan, Float32Array in memory",
    (query) => all.map((vector) => dot(query, vector)).sort((a, b) => b - a)[0],
  );
  const bytes = all.map((vector) => code.toBytes(vector));
  time(
    "plain scan, bytes in memory",
    (query) => bytes.map((vector) => code.cosine(query, vector)).sort((a, b) => b - a)[0],
  );
  const Native = createRequire(import.meta.url)("libsql");
  const database = new Native(join(folder, "v.db"), { encryptionKey: Buffer.from(KEY).toString("hex"), timeout: 5000 });
  database.exec(`CREATE TABLE v (id INTEGER PRIMARY KEY, e F32_BLOB(${DIMENSIONS}))`);
  const insert = database.prepare("INSERT INTO v VALUES (?, ?)");
  database.exec("BEGIN");
  for (const [i, vector] of all.entries()) insert.run([i + 1, Buffer.from(vector.buffer)]);
  database.exec("COMMIT");
  const nearest = database.prepare("SELECT id FROM v ORDER BY vector_distance_cos(e, ?) LIMIT 5").raw();
  time("SQL, vector_distance_cos", (query) => nearest.all([Buffer.from(query.buffer)]));
  indexed(Native, join(folder, "i.db"), { all: all.slice(0, Math.min(count, 500)), asked, show });
}

/** libsql's own index; it takes so long to fill that few vectors have to do. */
function indexed(Native, path, { all, asked, show }) {
  const database = new Native(path, { encryptionKey: Buffer.from(KEY).toString("hex"), timeout: 5000 });
  database.exec(
    `CREATE TABLE v (id INTEGER PRIMARY KEY, e F32_BLOB(${DIMENSIONS})); CREATE INDEX vi ON v (libsql_vector_idx(e))`,
  );
  const insert = database.prepare("INSERT INTO v VALUES (?, ?)");
  const began = performance.now();
  database.exec("BEGIN");
  for (const [i, vector] of all.entries()) insert.run([i + 1, Buffer.from(vector.buffer)]);
  database.exec("COMMIT");
  const filled = performance.now() - began;
  const nearest = database.prepare("SELECT id FROM vector_top_k('vi', ?, 5)").raw();
  show(
    `libsql_vector_idx, ${all.length} vectors`,
    asked.map((query) => {
      const at = performance.now();
      nearest.all([Buffer.from(query.buffer)]);
      return performance.now() - at;
    }),
  );
  process.stdout.write(
    `  filling it took ${(filled / all.length).toFixed(1)} ms for each vector; ${Math.round(statSync(path).size / all.length / 1000)} KB each on disk\n`,
  );
}
