/**
 * The answers that the scenarios need from the model behind the server. A server under test uses a model that gives them: the mock model with
 * this script, or its own.
 */
export interface ScriptedCall {
  /** A tool that asks for a permission on the server under test. */
  readonly tool: string;
  readonly args: string;
}

const DEFAULT_CALL: ScriptedCall = { tool: "bash", args: '{"command":"touch conformance-file"}' };

const SPOKEN = "One two three four five six seven eight.";

export function conformanceScript({ tool, args }: ScriptedCall = DEFAULT_CALL): string {
  return `# "speak": a short answer in several deltas.
reply times=any when "conformance: speak"
  text size=5: ${SPOKEN}

# "slow": an answer that takes long enough to lose the connection in the middle.
reply times=any when "conformance: slow"
  text size=5 every=15ms: ${SPOKEN}
  flush

# "hang": an answer that does not end.
reply times=any when "conformance: hang"
  text: Wait.
  flush
  hang

# "fail": the provider refuses the request.
reply times=any when "conformance: fail"
  error bad-request "refused on purpose"

# "ask": a call that needs a permission. The turn waits for the answer.
reply times=any when last-user contains "conformance: ask" and tool-results not exists
  tool ${tool} ${args}
reply times=any when last-user contains "conformance: ask" and tool-results exists
  text: Asked.

# "again": the same call, as often as the model is asked.
reply times=any when "conformance: again"
  tool ${tool} ${args}

reply times=any when "conformance: steer"
  text: Steered.

reply times=any
  text: Fine.
`;
}
