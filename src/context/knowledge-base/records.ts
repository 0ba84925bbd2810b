/** Describes what the knowledge base holds, as data. */
import type { ObservationKind, ProjectStatus } from "./dump.js";

export interface Project {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly status: ProjectStatus;
  readonly created_at: string;
  /** Their names. */
  readonly concepts: string;
}

export interface Observation {
  readonly id: number;
  readonly project: string;
  readonly kind: ObservationKind;
  readonly text: string;
  readonly created_at: string;
  readonly session: string | undefined;
  readonly event: number | undefined;
  /** Their names. */
  readonly concepts: string;
}

export interface Origin {
  readonly session: string;
  readonly event: number;
}

export interface NewObservation {
  readonly project: number;
  readonly kind: ObservationKind;
  readonly text: string;
  readonly origin?: Origin | undefined;
}
