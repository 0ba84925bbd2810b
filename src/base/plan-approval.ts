/** Tells whether a prompt says nothing but that the plan is good, and that its work should begin. */

const BEFORE = "yes|yeah|yep|ok|okay|sure|great|good|perfect|please|looks good|lgtm|that is fine|fine";
const GO = [
  "go ahead",
  "go for it",
  "proceed",
  "approved?",
  "i approve(?: it| this| the plan)?",
  "(?:do|start|implement|execute|build|make) (?:it|this|that|the plan)",
  "carry (?:it|this|the plan) out",
  "carry out (?:the|this) plan",
];

const APPROVAL = new RegExp(
  `^(?:(?:${BEFORE})[\\s,.!:;-]+)*(?:please )?(?:and )?(?:${GO.join("|")})(?:[\\s,]+please)?[.!]*$`,
  "i",
);

/** A bare "yes" may answer a question of the model, so it approves nothing. */
export function approvesPlan(prompt: string): boolean {
  return prompt.length <= 80 && APPROVAL.test(prompt.trim().replaceAll(/\s+/g, " "));
}
