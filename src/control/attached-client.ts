/** A client as the host knows it. */
import type { Identity } from "../protocol/client.js";
import type { Envelope } from "../protocol/envelope.js";
import type { ClientId } from "../protocol/ids.js";
import type { ClientScope } from "./scope.js";

/** Says whose input it is. */
export interface Originator {
  readonly id: ClientId;
  readonly identity: Identity;
}

export interface AttachedClient extends Originator {
  /** Says whether a person at the client can answer a question. */
  readonly canAnswer: boolean;
  /** Neither waits nor throws. */
  readonly deliver: (event: Envelope) => void;
  /** Waits until it can take more stored events; false if it is gone. Live events do not wait. */
  readonly ready?: () => Promise<boolean> | boolean;
  /** Limits what it may do; everything without it. */
  readonly scope?: ClientScope | undefined;
  /** It is in another process and outlives the run, so it also gets the end of a run without a turn. */
  readonly isRemote?: boolean;
  /** It passes on the input of others, who rely on the reply after this process. */
  readonly passesOn?: boolean;
  /** It has the owner's token and came over the socket of this machine, or it is in this process: it may bring its environment. */
  readonly isLocalOwner?: boolean;
  /** It said that no person is there. A session with such readers only does not wait for one. */
  readonly isUnattended?: boolean;
  /** One of several readers of the same client. */
  readonly stream?: symbol;
  /** False: creating a session does not attach it. It follows sessions with streams of their own. */
  readonly attachOnCreate?: boolean;
}
