/** Signed files with a small catalogue in which every figure has a source and a date, for tests of updates. */
import type { CatalogueValues } from '../../src/catalogue/update.js';
import { newSigner, type SignerKey } from '../../src/proof/note.js';
import { packCatalogue } from '../../src/proof/signed-catalogue.js';
import type { YamlObject } from './gateway-files.js';

export const signer: SignerKey = newSigner('catalogue.example.com');
const stated = { source: 'a price list', as_of: '2026-11-01' };

export const routeOf = (provider: string) => `${provider}/meta/llama/defra`;

export interface CatalogueEdits {
  /** Each has one route of the model `meta/llama` in Frankfurt. */
  providers?: Record<string, string>;
  /** In USD for a million tokens, of input and of output. */
  price?: number | null;
  cloudAct?: boolean;
  models?: readonly YamlObject[];
}

export function smallCatalogue(edits: CatalogueEdits = {}): CatalogueValues {
  const { providers = { acme: 'http://127.0.0.1:9' }, price = 1, cloudAct = false, models = [] } = edits;
  const prices = price === null ? {} : { price: { input: price, output: price, ...stated } };
  return {
    'providers/test.yaml': {
      providers: Object.entries(providers).map(([id, url]) => ({
        ...{ id, base_url: `${url}/v1`, auth: 'none', headquarters: 'DE', cloud_act: cloudAct, ...stated },
      })),
      regions: [{ locode: 'defra', country: 'DE', carbon: 300, ...stated }],
    },
    'models/test.yaml': {
      models: [
        {
          ...{ creator: 'meta', model: 'llama', context_window: 131_072, ...stated },
          routes: Object.keys(providers).map((provider) => ({ provider, locode: 'defra', ...prices })),
        },
        ...models,
      ],
    },
  };
}

/** A model of its own with one route of `acme`. */
export const extraModel = (model: string): YamlObject => ({
  ...{ creator: 'meta', model },
  routes: [{ provider: 'acme', locode: 'defra', price: { input: 1, output: 1, ...stated } }],
});

export function signedFile(version: string, values: CatalogueValues = smallCatalogue(), by = signer): Buffer {
  return packCatalogue({ version, values }, by);
}

/** The body of `POST /admin/v1/catalogue/updates`. */
export const updateBody = (file: Buffer, more: object = {}) => ({ file: file.toString('base64'), ...more });
