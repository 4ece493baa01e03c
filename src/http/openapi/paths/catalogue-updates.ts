/** Describes the updates of the catalogue. */
import { effects } from '../../../catalogue/effects.js';
import { changeKinds } from '../../../catalogue/facts.js';
import { newUpdate, rollbackTarget } from '../../admin/catalogue-updates.js';
import { json, type Resource } from '../operations.js';
import { array, bodySchema, boolean, listOf, object, oneOfValues, ref, text, textOrNull, time } from '../schema.js';
import type { Schema } from '../types.js';

const tag = { name: 'Catalogue updates', description: 'For operators: a newer catalogue without a new release.' };

const value = (description: string): Schema => ({
  type: ['string', 'number', 'boolean', 'array', 'null'],
  items: { type: 'string' },
  description,
});

const version = (description: string) => text(description, { pattern: '^\\d{4}\\.\\d\\d\\.\\d\\d(\\.[2-9])?$' });

const change = object({
  effect: oneOfValues(effects, 'What it means for requests.'),
  kind: oneOfValues(
    [...changeKinds, 'address'],
    'What kind of fact it is; `address` where a provider is called elsewhere.',
  ),
  id: text('A route, `{creator}/{model}`, a provider or a locode.'),
  field: text('What changes; `id` where the route, model or provider itself comes or goes.'),
  from: value('Null where there is nothing now.'),
  to: value('Null where there is nothing afterwards.'),
  source: textOrNull('Where the figure is from.'),
  as_of: textOrNull('Of when it is.'),
});

export const adminCatalogue: Resource = {
  tag,
  schemas: {
    NewCatalogueUpdate: bodySchema(newUpdate),
    RollbackTarget: bodySchema(rollbackTarget),
    CatalogueUpdate: object({
      object: { const: 'catalogue_update' },
      version: version('The version that is in use now, or would be.'),
      from: version('The version in use before.'),
      part: oneOfValues(['all', 'additions', null], 'What of the update is used; null for the built-in catalogue.'),
      digest: text('Of the catalogue with it, as receipts name it.', { pattern: '^[0-9a-f]{64}$' }),
      applied: boolean('False for a dry run.'),
      needs_confirmation: boolean(
        'Whether a price rises, something goes, gates decide otherwise, or requests go to another address.',
      ),
      changes: array(change, 'What changes.'),
    }),
    KeptCatalogueUpdate: object({
      version: version('The version.'),
      part: oneOfValues(['all', 'additions'], 'What of it was used.'),
      applied_at: time('When it was taken into use.'),
      in_use: boolean('Whether it is in use.'),
    }),
  },
  operations: {
    'GET /admin/v1/catalogue/updates': {
      id: 'listCatalogueUpdates',
      summary: 'List the updates that are kept',
      answers: {
        '200': json(
          'The last five, newest version first.',
          listOf(ref('KeptCatalogueUpdate'), {
            in_use: version('The version in use.'),
            builtin: version('The version that this gateway has built in.'),
            last_look: object(
              { at: time('When.'), text: text('What was found, and what was applied.') },
              { type: ['object', 'null'], description: 'The last daily look; null where there was none.' },
            ),
          }),
        ),
      },
    },
    'POST /admin/v1/catalogue/updates': {
      id: 'updateCatalogue',
      summary: 'Take a newer catalogue into use',
      description:
        'In every process at once. Running requests end with the catalogue that they began with. A file that is refused changes nothing.',
      body: {
        schema: ref('NewCatalogueUpdate'),
        examples: {
          dry: { summary: 'What would change', value: { file: 'bG9kZXN0b25lLWNhdGFsb2d1ZS8x', dry_run: true } },
        },
      },
      answers: { '200': json('What has changed.', ref('CatalogueUpdate')) },
    },
    'POST /admin/v1/catalogue/rollback': {
      id: 'rollBackCatalogue',
      summary: 'Take an update of the catalogue back',
      description: 'It asks for no confirmation.',
      body: {
        schema: ref('RollbackTarget'),
        examples: { before: { summary: 'The version before', value: {} } },
      },
      answers: { '200': json('What has changed.', ref('CatalogueUpdate')) },
    },
  },
};
