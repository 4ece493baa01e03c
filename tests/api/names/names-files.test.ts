import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import { chatCatalogue } from '../catalogue.js';
import { ask, expectError, llama, useGateway } from '../harness.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-names-'));
const file = join(folder, 'names.yaml');
writeFileSync(file, '');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bench = useGateway({ config: { names: [file] } });
const put = (name: string, body: unknown) => bench.gateway.admin('PUT', `/names/${name}`, body);
const remove = (name: string) => bench.gateway.admin('DELETE', `/names/${name}`);

describe('files of names', () => {
  it('are read at a reload; a fault keeps the old names, and the API cannot change one of a file', async () => {
    const { gateway } = bench;
    const write = (text: string) => {
      writeFileSync(file, text);
      return gateway.admin('POST', '/catalogue/reload');
    };
    const good = await write('names:\n  filed:\n    model: acme/meta/plain/defra\n    defaults: { top_p: 0.5 }\n');
    expect(good.status, good.text).toBe(200);
    expect((await gateway.chat(ask({ model: 'filed' }))).json.model).toBe('acme/meta/plain/defra');
    const { json: list } = await gateway.admin('GET', '/names');
    expect(list.data.find((each: Json) => each.name === 'filed')).toMatchObject({ source: 'file', file });
    for (const reply of [await put('filed', { model: llama }), await remove('filed')]) {
      expectError(reply, {
        status: 409,
        type: 'invalid_request_error',
        code: 'name_in_file',
        param: 'name',
        says: [file],
      });
    }
    const faulty = await write(
      'names:\n  filed:\n    model: acme/meta/plain/defra\n    defaults:\n      temperature: 3\n',
    );
    expectError(faulty, {
      ...{ status: 422, type: 'invalid_request_error', code: 'catalogue_invalid' },
      says: [`${file}:5:`, 'defaults.temperature'],
    });
    expect((await gateway.chat(ask({ model: 'filed' }))).status).toBe(200);
    // A target that the catalogue has lost is no fault of a reload.
    expect((await write('names: { filed: { model: auto/meta/nothing } }')).status).toBe(200);
    const lost = await gateway.chat(ask({ model: 'filed' }));
    expect([lost.status, lost.json.error.code]).toEqual([404, 'not_found']);
    expect((await write('')).status).toBe(200);
    expect((await gateway.chat(ask({ model: 'filed' }))).status).toBe(400);
  });

  it('a target that the catalogue does not have stops the start, with file and line', async () => {
    const lost = join(folder, 'lost.yaml');
    writeFileSync(lost, 'names:\n  lost:\n    model: auto/meta/nothing\n');
    const starting = startGateway({ catalogue: chatCatalogue(bench.upstream.url), config: { names: [lost] } });
    await expect(starting).rejects.toThrow(/lost\.yaml:3:\d+: names\.lost\.model: .*meta\/nothing/);
  });

  it('names of the store are there after a restart', async () => {
    await put('kept', { model: llama });
    await bench.gateway.restart();
    expect((await bench.gateway.chat(ask({ model: 'kept' }))).status).toBe(200);
  });
});
