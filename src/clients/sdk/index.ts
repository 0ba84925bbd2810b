/** `oxbow/sdk`: drives a running engine from a browser or from Node. */

export * from "../../protocol/index.js";
export { connect } from "./connect.js";
export { Connection } from "./connection.js";
export { ConnectionError, RefusedError } from "./connection-error.js";
export type { Exchange, ExchangeAnswer, ExchangeRequest } from "./exchange.js";
export { HttpClient } from "./http-client.js";
export type { ConnectionState, ConnectOptions, WebSocketConstructor, WebSocketLike } from "./options.js";
export type { PermissionCallback, PermissionQuestion, PermissionReply } from "./questions.js";
export { Session } from "./session.js";
export type { HttpOptions } from "./shake-hands.js";
export type { PromptOptions, TurnResult } from "./turn.js";
export { WebSocketClient } from "./web-socket-client.js";
export type { DetachListener, WireClient } from "./wire-client.js";
