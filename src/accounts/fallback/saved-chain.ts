/** Saves and deletes an account's fallback chain. The checks run in this order: body, snapshot, entries. */
import type { Snapshot } from '../../catalogue/route.js';
import type { Account } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { fallbackModelsMax } from '../../wire/chat-request.js';
import { shown } from '../../wire/json-text.js';
import type { Actor, AuditLog } from '../audit.js';
import type { AccountDirectory } from '../directory.js';
import { checkChain, checkChatChain, type ModelStateReader } from './check-chain.js';

const param = 'fallback.models';

export class SavedChain {
  constructor(
    private readonly directory: AccountDirectory,
    private readonly audit: AuditLog,
    private readonly modelStates: ModelStateReader,
  ) {}

  /** Each entry must be served now. An entry that is withdrawn later is skipped when a request uses the chain. */
  async set(
    account: Account,
    body: Record<string, unknown>,
    snapshot: Snapshot | null,
    who?: Actor,
  ): Promise<readonly string[]> {
    const models = readChain(body);
    if (!snapshot) throw gatewayError('service_unavailable');
    checkChain(models, account, snapshot, this.modelStates);
    checkChatChain(models, account, snapshot);
    await this.directory.setRouting(account, { fallback: models });
    await this.audit.record(who ?? `account:${account.id}`, 'fallback.set', account.id, { models });
    return models;
  }

  async delete(account: Account, who?: Actor): Promise<void> {
    await this.directory.setRouting(account, { fallback: [] });
    await this.audit.record(who ?? `account:${account.id}`, 'fallback.delete', account.id);
  }
}

function readChain({ fallback }: Record<string, unknown>): readonly string[] {
  if (fallback !== undefined && fallback !== null && (typeof fallback !== 'object' || Array.isArray(fallback))) {
    const expected = 'an object with the list models';
    throw gatewayError('field_type', { param: 'fallback', found: shown(fallback, 'utf8'), expected });
  }
  const models = (fallback as { models?: unknown } | null | undefined)?.models;
  if (models === undefined || models === null) {
    throw gatewayError('field_invalid', {
      param,
      reason: 'is missing: send the model ids of the chain, or [] for none',
    });
  }
  if (!Array.isArray(models)) {
    throw gatewayError('field_type', { param, found: shown(models, 'utf8'), expected: 'an array of model ids' });
  }
  const wrong = models.findIndex((id) => typeof id !== 'string');
  if (wrong >= 0) {
    const found = `an array whose entry ${wrong} is ${shown(models[wrong], 'utf8')}`;
    throw gatewayError('field_type', { param, found, expected: 'an array of model ids' });
  }
  if (models.length > fallbackModelsMax) {
    const reason = `has ${models.length} entries, but takes at most ${fallbackModelsMax}`;
    throw gatewayError('field_invalid', { param, reason });
  }
  return models as string[];
}
