/**
 * Decides which tokens were made, and which were revoked: lines of JSON in `tokens.jsonl`. It holds no token, only their claims.
 *
 * 1. Every check sees a revocation of any process: the file is read again when it has changed.
 * 2. If the file cannot be read, the check throws, and the request is refused.
 * 3. Lines of tokens that have expired are removed when an engine starts.
 */
import { readFileSync, statSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.js";
import { isJsonObject } from "../../protocol/json.js";
import { withLock } from "../../system/file-lock.js";
import type { TokenClaims } from "./claims.js";
import { writePrivateFile } from "./private-file.js";

export interface IssuedToken extends Omit<TokenClaims, "ver" | "critical_claims"> {
  readonly issued_at: string;
  readonly revoked_at?: string;
}

interface Line {
  readonly jti: string;
  readonly exp: number;
  readonly issued?: IssuedToken;
  readonly revoked_at?: string;
}

export class TokenRecords {
  readonly #path: string;
  readonly #clock: Clock;
  #stamp = "";
  #lines: readonly Line[] = [];
  #revoked: ReadonlyMap<string, string> = new Map();

  constructor(stateFolder: string, clock: Clock) {
    this.#path = join(stateFolder, "tokens.jsonl");
    this.#clock = clock;
  }

  /** Tells when it was revoked; undefined if it was not. */
  revokedAt(jti: string): string | undefined {
    this.#refresh();
    return this.#revoked.get(jti);
  }

  /** Tokens that have not expired, oldest first. */
  list(): readonly IssuedToken[] {
    this.#refresh();
    const now = this.#clock.wall() / 1000;
    return this.#lines.flatMap(({ issued }) => {
      if (issued === undefined || issued.exp <= now) return [];
      const revoked = this.#revoked.get(issued.jti);
      return [{ ...issued, ...(revoked !== undefined && { revoked_at: revoked }) }];
    });
  }

  async issued({ ver: _ver, critical_claims: _critical, ...claims }: TokenClaims): Promise<void> {
    await this.#append({ jti: claims.jti, exp: claims.exp, issued: { ...claims, issued_at: this.#now() } });
  }

  /** The time of the first revocation counts. `exp` is when the record may go. */
  async revoke(jti: string, exp: number): Promise<void> {
    if (this.revokedAt(jti) === undefined) await this.#append({ jti, exp, revoked_at: this.#now() });
  }

  async removeExpired(): Promise<void> {
    this.#refresh();
    const isOver = ({ exp }: Line) => exp <= this.#clock.wall() / 1000;
    if (!this.#lines.some(isOver)) return;
    await this.#locked(async () => {
      this.#refresh();
      const kept = this.#lines.filter((line) => !isOver(line));
      await writePrivateFile(this.#path, kept.map((line) => `${JSON.stringify(line)}\n`).join(""));
    });
  }

  #append(line: Line): Promise<void> {
    return this.#locked(async () => {
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      const handle = await open(this.#path, "a", 0o600);
      try {
        // A crash may have left the last line without its end.
        await handle.writeFile(`\n${JSON.stringify(line)}\n`);
        await handle.sync();
      } finally {
        await handle.close();
      }
    });
  }

  #locked<T>(work: () => Promise<T>): Promise<T> {
    return withLock(`${this.#path}.lock`, { clock: this.#clock }, work);
  }

  #refresh(): void {
    const stats = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    const stamp = stats === undefined ? "none" : `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
    if (stamp === this.#stamp) return;
    this.#lines = stats === undefined ? [] : readFileSync(this.#path, "utf8").split("\n").flatMap(readLine);
    const revoked = new Map<string, string>();
    for (const { jti, revoked_at: at } of this.#lines) if (at !== undefined && !revoked.has(jti)) revoked.set(jti, at);
    this.#revoked = revoked;
    this.#stamp = stamp;
  }

  #now(): string {
    return new Date(this.#clock.wall()).toISOString();
  }
}

/** A line that a crash cut off is left out: its writer did not report success. */
function readLine(text: string): readonly Line[] {
  if (text === "") return [];
  try {
    const line: unknown = JSON.parse(text);
    return isJsonObject(line) && typeof line.jti === "string" && typeof line.exp === "number"
      ? [line as unknown as Line]
      : [];
  } catch {
    return [];
  }
}
