import { expect, it } from 'vitest';
import { aGeneration } from '../../../tests/support/generation.js';
import { httpFixture, singleProcess } from '../../../tests/support/http-fixture.js';
import { findRepeatedly } from '../../app/deployment.js';
import { generationId } from '../../base/ids.js';
import { settlementRow } from '../../domain/settlement-row.js';

it('404 receipt_not_sealed for a generation that is not in the queue, also for operators', async () => {
  const { app, store, account, asKey, asAdmin } = await httpFixture();
  const made = aGeneration({ accountId: account.id });
  await store.ledger.settle([settlementRow(made)]);
  const codeOf = async (url: string, headers: Record<string, string>) =>
    (await app.inject({ url, headers })).json().error.code;
  for (const id of [made.id, made.requestId]) {
    expect(await codeOf(`/v1/generation/${id}/proof`, asKey)).toBe('receipt_not_sealed');
    expect(await codeOf(`/admin/v1/generations/${id}/proof`, asAdmin)).toBe('receipt_not_sealed');
  }
  expect(await codeOf('/admin/v1/generations/gen-none/proof', asAdmin)).toBe('not_found');
});

it('waits for a generation that another process is about to settle', async () => {
  const fixture = await httpFixture({ deployment: { ...singleProcess, findSettledElsewhere: findRepeatedly } });
  const { app, store, account, asKey, clock } = fixture;
  const id = generationId(clock.now());
  const asked = app.inject({ url: `/v1/generation/${id}/proof`, headers: asKey });
  setTimeout(() => void store.ledger.settle([settlementRow(aGeneration({ id, accountId: account.id }))]), 20);
  expect((await asked).json().error.code).toBe('receipt_not_sealed');
});
