/**
 * Variables that SessionStart hooks add for the commands of a session.
 *
 * Those of a hook that the project can change reach a command only where the hook itself could act: in the sandbox, or on a machine
 * without one after the user allowed the command. A command outside the sandbox gets only those of the user's own hooks.
 */
export type VariableOwner = "user" | "project";

export class HookVariables {
  readonly #values: Readonly<Record<VariableOwner, Map<string, string | undefined>>> = {
    user: new Map(),
    project: new Map(),
  };

  get isEmpty(): boolean {
    return this.#values.user.size === 0 && this.#values.project.size === 0;
  }

  /** Undefined removes the variable. */
  set(owner: VariableOwner, name: string, value: string | undefined): void {
    this.#values[owner].set(name, value);
  }

  of(reach: "all" | "user"): Readonly<Record<string, string | undefined>> {
    const { user, project } = this.#values;
    return Object.fromEntries(reach === "all" ? [...user, ...project] : user);
  }
}
