import { expect, it } from 'vitest';
import { ManualClock } from '../../support/manual-clock.js';
import { completion, json, usage } from '../../support/scripted-upstream.js';
import { ask, useGateway } from '../harness.js';

// A Saturday; the month ends on the same day, the week a day later.
const clock = new ManualClock('2026-01-31T23:59:59.000Z');
const bench = useGateway({ clock });

it('usage_usd starts again with each period at 00:00 UTC, and a sum of all does not', async () => {
  const { gateway, upstream } = bench;
  const { accountId, key } = await gateway.createAccount();
  const path = `/accounts/${accountId}/keys/${key.slice(6, 16)}`;
  const spent = async () => {
    const figures: Record<string, string> = {};
    for (const limit_reset of ['daily', 'weekly', 'monthly', 'never']) {
      const { usage_usd, limit_remaining_usd } = (
        await gateway.admin('PATCH', path, { limit_reset, limit_usd: '0.000028' })
      ).json;
      figures[limit_reset] = `${usage_usd} ${limit_remaining_usd}`;
    }
    return figures;
  };
  const one = '0.000014 0.000014';
  const none = '0 0.000028';
  upstream.reply(json(completion({ usage: usage(10, 10) })));
  expect((await gateway.chat(ask(), { key })).status).toBe(200);
  expect(await spent()).toEqual({ daily: one, weekly: one, monthly: one, never: one });
  clock.advance(1000);
  expect(await spent()).toEqual({ daily: none, weekly: one, monthly: none, never: one });
  clock.advance(24 * 3600 * 1000 - 1);
  expect((await spent()).weekly).toBe(one);
  clock.advance(1);
  expect(await spent()).toEqual({ daily: none, weekly: none, monthly: none, never: one });
});
