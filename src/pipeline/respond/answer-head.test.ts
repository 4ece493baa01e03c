import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { routerMetadataText } from './answer-head.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const metadata = {
  requestedModel: 'auto/meta/llama',
  alias: null,
  route,
  providersAttempted: ['zeta', 'acme'],
  fallbackOccurred: true,
  breakerSkipped: ['zeta/global'],
};

describe('router_metadata', () => {
  it('has exactly the documented members', () => {
    expect(JSON.parse(routerMetadataText(metadata))).toEqual({
      requested_model: 'auto/meta/llama',
      served_model: 'acme/meta/llama/defra',
      provider: 'acme',
      creator: 'meta',
      model: 'llama',
      locode: 'defra',
      country: 'DE',
      providers_attempted: ['zeta', 'acme'],
      fallback_occurred: true,
      breaker_skipped: ['zeta/global'],
      alias: null,
      carbon: 344,
      cloud_act: true,
      credential: { id: null, owner: 'operator' },
      request_policy: false,
      sticky: false,
      name: null,
      defaults: [],
    });
  });

  it('says how a stream ended where it is asked to', () => {
    expect(JSON.parse(routerMetadataText(metadata, 'stalled')).stream_end).toBe('stalled');
  });

  it('takes what differs from the answer, and not from an earlier one of the same route', () => {
    routerMetadataText(metadata);
    const next = JSON.parse(
      routerMetadataText({ ...metadata, requestedModel: 'alias/"x"', alias: 'x', providersAttempted: [] }),
    );
    expect(next).toMatchObject({ requested_model: 'alias/"x"', alias: 'x', providers_attempted: [] });
  });
});
