import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import type { Capability } from '../../catalogue/route.js';
import { obstacleOf } from './obstacles.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const holds = { holds: { isHeld: () => false } } as unknown as Parameters<typeof obstacleOf>[0];

function obstacle(form: string, ...capabilities: Capability[]) {
  const text = { members: '', encoding: 'latin1' } as const;
  const request = { ...text, needs: ['response_format'] as const, responseFormat: form };
  return obstacleOf(holds, { ...route, capabilities: new Set(capabilities) }, request)?.param ?? null;
}

describe('a route that knows one form of response_format', () => {
  it.each<[string, Capability[], boolean]>([
    ['json_object', ['response_format'], true],
    ['json_schema', ['response_format'], true],
    ['json_object', ['json_object'], true],
    ['json_schema', ['json_object'], false],
    ['json_object', ['json_schema'], false],
    ['json_schema', ['json_schema', 'json_object'], true],
    ['tools', ['tools', 'json_object', 'json_schema'], false],
    ['json_object', [], false],
  ])('%s with %j: applied %s', (form, capabilities, applied) => {
    expect(obstacle(form, ...capabilities)).toBe(applied ? null : 'response_format');
  });
});
