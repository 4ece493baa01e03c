/** What Gemini 3 must receive in a second step after calls without ids: matching results, and a signed first call. */
import { expect } from 'vitest';
import { parallelCalls } from './conversations.js';
import type { DialectGateway } from './dialect-gateway.js';

interface Part {
  functionCall?: { id: string; name: string; args: unknown };
  functionResponse?: { id: string; name: string };
  thoughtSignature?: string;
}

/** What Google has its clients write for a call whose signature was lost along the way. */
const lost = 'skip_thought_signature_validator';

export function expectFittingResults({ upstream }: DialectGateway): void {
  const { contents } = upstream.calls[1]!.json as { contents: { parts: Part[] }[] };
  const [, model, user] = contents;
  const calls = model!.parts.filter(({ functionCall }) => functionCall);
  expect(calls.map(({ functionCall }) => [functionCall!.name, functionCall!.args])).toEqual(
    parallelCalls.calls.map(({ name, input }) => [name, input]),
  );
  const named = ({ id, name }: { id: string; name: string }) => [id, name];
  const ids = calls.map(({ functionCall }) => named(functionCall!));
  expect(user!.parts.map(({ functionResponse }) => named(functionResponse!))).toEqual(ids);
  expect(new Set(ids.map(([id]) => id)).size).toBe(2);
  for (const [id] of ids) expect(id).toMatch(/^call_\w{20,}$/);
  expect(calls[0]!.thoughtSignature).toBe(lost);
}
