import { describe, expect, it } from 'vitest';
import { memoryNames } from '../../../tests/support/memory-names.js';
import { type ModelName, modelNameOf } from '../../catalogue/model-name.js';
import { NameBook } from './name-book.js';

const named = (name: string, model = 'auto/a/b', defaults: Record<string, unknown> | null = null): ModelName =>
  modelNameOf(name, { model, defaults });
const inFile = (name: ModelName) => new Map([[name.name, { name, file: 'names.yaml' }]]);

describe('NameBook', () => {
  it('a name of a file wins over one of the store, which is back when the file loses it', async () => {
    const book = new NameBook(memoryNames());
    await book.put(named('a', 'auto/store/x'), 1);
    book.useFiles(inFile(named('a', 'auto/file/x')));
    expect(book.get('a')?.target).toBe('auto/file/x');
    await expect(book.put(named('a'), 2)).rejects.toMatchObject({ condition: 'name_in_file' });
    await expect(book.delete('a')).rejects.toMatchObject({ condition: 'name_in_file' });
    book.useFiles(new Map());
    expect(book.get('a')?.target).toBe('auto/store/x');
  });

  it('another process’s names come, change and go with a load; each change raises the version', async () => {
    const store = memoryNames();
    const [here, there] = [new NameBook(store), new NameBook(store)];
    await there.put(named('a'), 1);
    await there.put(named('b'), 1);
    await here.load();
    expect([here.get('a')?.target, here.get('b')?.target]).toEqual(['auto/a/b', 'auto/a/b']);
    const { version } = here;
    await here.load();
    expect(here.version).toBe(version);
    await there.delete('a');
    await there.put(named('c', 'auto/c/d', { top_p: 1 }), 2);
    await here.load();
    expect(here.list().map(({ name }) => name.name)).toEqual(['b', 'c']);
    expect([here.get('a'), here.hasDefaults, here.allDefaults()]).toEqual([undefined, true, [['c', { top_p: 1 }]]]);
    expect(here.version).toBeGreaterThan(version);
  });

  it('tells the other processes before a change is acknowledged', async () => {
    const told: string[] = [];
    const book = new NameBook(memoryNames(), async () => void told.push(String(book.get('a')?.target)));
    await book.put(named('a'), 1);
    await book.delete('a');
    expect(told).toEqual(['auto/a/b', 'undefined']);
  });
});
