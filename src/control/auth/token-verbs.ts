/** Describes what a client asks about requests for tokens: `refuse`. */
import type { CommandReply } from "../../protocol/client.js";
import { failure } from "../../protocol/errors.js";
import { isJsonObject } from "../../protocol/json.js";
import type { AnswerVerb } from "../host-ports.js";
import type { Tokens } from "./tokens.js";

export function tokenVerbs(tokens: Pick<Tokens, "refuse">): AnswerVerb {
  return ({ verb, payload, client }) => {
    const request = isJsonObject(payload) ? payload.request : undefined;
    if (verb !== "refuse" || typeof request !== "string") {
      return refused("A client can refuse a request for a token: verb refuse, payload { request }.");
    }
    if (client.identity !== "human") return refused("Only a person can refuse a token.");
    return tokens.refuse(request) ? { ok: true } : refused("The request is no longer open.");
  };
}

function refused(detail: string): CommandReply {
  return { ok: false, failure: failure("InvalidInput", { detail }) };
}
