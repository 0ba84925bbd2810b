/**
 * Identifiers on the wire: a typed prefix and a ULID (Crockford base32, 26 characters, sortable), so that a string can be
 * recognised without context. The random part is supplied by `base/ulid.ts`; this file only knows the shapes.
 */
export type IdPrefix = "sess" | "log" | "call" | "tok" | "cli" | "turn";

export type Id<P extends IdPrefix> = `${P}_${string}`;
export type SessionId = Id<"sess">;
export type LogId = Id<"log">;
export type CallId = Id<"call">;
export type TokenId = Id<"tok">;
export type ClientId = Id<"cli">;
export type TurnId = Id<"turn">;

const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";

export function isId<P extends IdPrefix>(prefix: P, text: string): text is Id<P> {
  return new RegExp(`^${prefix}_${ULID}$`).test(text);
}
