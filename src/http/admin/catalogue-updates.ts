/** The admin API of catalogue updates: which are kept, taking one into use, and taking it back. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { effectOf, effects, needsConsent } from '../../catalogue/effects.js';
import { changeKinds } from '../../catalogue/facts.js';
import { CatalogueFault } from '../../catalogue/load-catalogue.js';
import { UpdateRefused } from '../../catalogue/update.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { AppliedUpdate, HttpDeps } from '../deps.js';
import { body, component, json, list, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { changedValue } from '../openapi/shared.js';
import { actorOf } from './audit.js';
import { bodyFields } from './fields.js';

const dryRun = z.boolean('must be true or false').nullish().describe('Only says what would change.');

const newUpdate = z.strictObject({
  file: z
    .string('must be a text')
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be the file in base64')
    .describe('The signed file, in base64.'),
  dry_run: dryRun,
  confirm: z
    .boolean('must be true or false')
    .nullish()
    .describe(
      'Agrees to prices that rise, to what goes, to what makes gates decide otherwise, and to other addresses.',
    ),
});

const rollbackTarget = z.strictObject({
  version: z
    .string('must be a text')
    .max(20, 'must be a version such as 2026.11.18')
    .nullish()
    .describe('A version that is kept, or the built-in one. Without it, the version before the one in use.'),
  dry_run: dryRun,
});

export function registerCatalogueUpdates(app: FastifyInstance, { catalogueUpdates, audit }: HttpDeps): void {
  const note = (request: FastifyRequest, action: string, { version, from, part }: AppliedUpdate) =>
    audit.record(actorOf(request), action, version, { from, part });

  app.get('/catalogue/updates', async () => {
    const { inUse, builtin, kept, lastLook } = await catalogueUpdates.list();
    return {
      ...{ object: 'list', in_use: inUse, builtin },
      last_look: lastLook && { at: new Date(lastLook.atMs).toISOString(), text: lastLook.text },
      data: kept.map(({ version, part, appliedMs }) => ({
        ...{ version, part, applied_at: new Date(appliedMs).toISOString(), in_use: version === inUse },
      })),
    };
  });

  app.post('/catalogue/updates', async (request) => {
    const { file, dry_run, confirm } = bodyFields(request, newUpdate);
    const options = { dryRun: dry_run ?? false, confirm: confirm ?? false };
    const outcome = await catalogueUpdates.apply(Buffer.from(file, 'base64'), options).catch(refuse);
    if (outcome.applied) await note(request, 'catalogue.update', outcome);
    else if (!options.dryRun) {
      const count = outcome.changes.filter(needsConsent).length;
      throw gatewayError('catalogue_update_unconfirmed', { version: outcome.version, count });
    }
    return updateJson(outcome);
  });

  // Nobody is asked here: it leads back to what was in use, and is called in a hurry.
  app.post('/catalogue/rollback', async (request) => {
    const { version, dry_run } = bodyFields(request, rollbackTarget);
    const options = { dryRun: dry_run ?? false, confirm: true };
    const outcome = await catalogueUpdates.rollback(version ?? null, options).catch(refuse);
    if (outcome.applied) await note(request, 'catalogue.rollback', outcome);
    return updateJson(outcome);
  });
}

function refuse(error: unknown): never {
  if (error instanceof CatalogueFault) throw gatewayError('catalogue_invalid', { faults: error.faults.join('\n') });
  if (error instanceof UpdateRefused) throw gatewayError('catalogue_update_refused', { reason: error.message });
  throw error;
}

function updateJson({ version, from, part, digest, changes, applied, needsConfirmation }: AppliedUpdate) {
  return {
    ...{ object: 'catalogue_update', version, from, part, digest, applied, needs_confirmation: needsConfirmation },
    changes: changes.map((change) => {
      const { kind, id, field, from: before, to, source, asOf } = change;
      return { effect: effectOf(change), kind, id, field, from: before, to, source, as_of: asOf };
    }),
  };
}

const versionText = (description: string) => s.text(description, { pattern: '^\\d{4}\\.\\d\\d\\.\\d\\d(\\.[2-9])?$' });

const catalogueUpdate = record('CatalogueUpdate', {
  object: { const: 'catalogue_update' },
  version: versionText('The version that is in use now, or would be.'),
  from: versionText('The version in use before.'),
  part: s.oneOfValues(['all', 'additions', null], 'What of the update is used; null for the built-in catalogue.'),
  digest: s.text('Of the catalogue with it, as receipts name it.', { pattern: '^[0-9a-f]{64}$' }),
  applied: s.boolean('False for a dry run.'),
  needs_confirmation: s.boolean(
    'Whether a price rises, something goes, gates decide otherwise, or requests go to another address.',
  ),
  changes: s.objectsOf('What changes.', {
    effect: s.oneOfValues(effects, 'What it means for requests.'),
    kind: s.oneOfValues(
      [...changeKinds, 'address'],
      'What kind of fact it is; `address` where a provider is called elsewhere.',
    ),
    id: s.text('A route, `{creator}/{model}`, a provider or a locode.'),
    field: s.text('What changes; `id` where the route, model or provider itself comes or goes.'),
    from: changedValue('Null where there is nothing now.'),
    to: changedValue('Null where there is nothing afterwards.'),
    source: s.textOrNull('Where the figure is from.'),
    as_of: s.textOrNull('Of when it is.'),
  }),
});

const keptUpdate = record('KeptCatalogueUpdate', {
  version: versionText('The version.'),
  part: s.oneOfValues(['all', 'additions'], 'What of it was used.'),
  applied_at: s.time('When it was taken into use.'),
  in_use: s.boolean('Whether it is in use.'),
});

const about = 'For operators: a newer catalogue without a new release.';
export const adminCatalogue = resource('Catalogue updates', about, 'admin', {
  'GET /admin/v1/catalogue/updates': operation('listCatalogueUpdates', 'List the updates that are kept', {
    answers: list(keptUpdate, 'The last five, newest version first.', {
      in_use: versionText('The version in use.'),
      builtin: versionText('The version that this gateway has built in.'),
      last_look: s.objectOrNull('The last daily look; null where there was none.', {
        at: s.time('When.'),
        text: s.text('What was found, and what was applied.'),
      }),
    }),
  }),
  'POST /admin/v1/catalogue/updates': operation('updateCatalogue', 'Take a newer catalogue into use', {
    description:
      'In every process at once. Running requests end with the catalogue that they began with. A file that is refused changes nothing.',
    body: body(component('NewCatalogueUpdate', newUpdate), {
      dry: ['What would change', { file: 'bG9kZXN0b25lLWNhdGFsb2d1ZS8x', dry_run: true }],
    }),
    answers: json('What has changed.', catalogueUpdate),
  }),
  'POST /admin/v1/catalogue/rollback': operation('rollBackCatalogue', 'Take an update of the catalogue back', {
    description: 'It asks for no confirmation.',
    body: body(component('RollbackTarget', rollbackTarget), { before: ['The version before', {}] }),
    answers: json('What has changed.', catalogueUpdate),
  }),
});
