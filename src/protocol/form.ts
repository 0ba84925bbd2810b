/** A form that a question asks the user to fill in, such as one of an MCP server. */

export type FormValue = string | number | boolean | readonly string[];
export type FormValues = Readonly<Record<string, FormValue>>;

export interface FormField {
  readonly name: string;
  /** For people; default: the name. */
  readonly title?: string;
  readonly description?: string;
  /** `one` of the choices, or `some` of them. */
  readonly kind: "text" | "number" | "integer" | "yes_no" | "one" | "some";
  readonly required?: true;
  readonly default?: FormValue;
  readonly choices?: readonly { readonly value: string; readonly title: string }[];
  /** Says what a value must look like, such as `an e-mail address` or `from 1 to 10`. */
  readonly hint?: string;
}

/** The message of a denial that dismisses the form. Any other denial declines it. */
export const DISMISSED = "cancel";
