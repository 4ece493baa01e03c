/** A whole completion as the caller gets it: our id and model, the upstream's members, usage with cost, the receipt. */
import type { Route } from '../../catalogue/route.js';
import { usageText } from '../../wire/usage-text.js';
import type { Billed, Exchange } from '../handover.js';

export interface AnswerParts {
  members: string;
  usage: unknown;
  usageText: string | undefined;
}

export function answerText(
  exchange: Exchange,
  route: Route,
  parts: AnswerParts,
  billed: Billed,
  metadata: string,
): string {
  const { generationId, createdAt } = exchange;
  const members = parts.members === '' ? '' : `,${parts.members}`;
  return (
    `{"id":"${generationId}","object":"chat.completion","created":${Math.floor(createdAt / 1000)},"model":"${route.id}"${members}` +
    `,"usage":${usageText(parts.usage, billed.usage, billed.costPico, parts.usageText)},"router_metadata":${metadata}}`
  );
}
