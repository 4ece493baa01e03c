/**
 * Holds the names of models in memory: those of files, which a reload replaces, and those of the store. A name of a file wins. A request
 * looks up its model here with one read of a table.
 */
import { type ModelName, namesMax, type StoredName } from '../../catalogue/model-name.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { NameStore } from '../../storage/store.js';

export interface ListedName {
  readonly name: ModelName | StoredName;
  /** The file that the name is in; null for a name of the store. */
  readonly file: string | null;
}

export class NameBook {
  private readonly names = new Map<string, ModelName>();
  private files: ReadonlyMap<string, ListedName> = new Map();
  private stored = new Map<string, StoredName>();
  /** Of the store's latest change that is known here. */
  private storeVersion = '0';
  private lastChange: Promise<unknown> = Promise.resolve();
  private readonly defaults = new Set<string>();
  /** Raised by every change. */
  version = 0;

  /** `changed` notifies the other processes of a fleet before a change is acknowledged. */
  constructor(
    private readonly store: NameStore,
    private readonly changed: () => Promise<void> = () => Promise.resolve(),
  ) {}

  get(name: string): ModelName | undefined {
    return this.names.get(name);
  }

  /** Some name has fields for what clients leave out. */
  get hasDefaults(): boolean {
    return this.defaults.size > 0;
  }

  /** The defaults of each name that has some. */
  allDefaults(): [name: string, defaults: NonNullable<ModelName['defaults']>][] {
    return [...this.defaults].map((name) => [name, this.names.get(name)!.defaults!]);
  }

  all(): Iterable<ModelName> {
    return this.names.values();
  }

  /** In the order of the names. */
  list(): ListedName[] {
    const stored = [...this.stored.values()].filter(({ name }) => !this.files.has(name));
    const listed = [...this.files.values(), ...stored.map((name) => ({ name, file: null }))];
    return listed.sort((a, b) => (a.name.name < b.name.name ? -1 : 1));
  }

  useFiles(files: ReadonlyMap<string, ListedName>): void {
    this.files = files;
    this.rebuild();
  }

  /** Reads what has changed in the store. Call it before serving, and when another process has changed a name. */
  load(): Promise<void> {
    return this.enqueue(() => this.read());
  }

  /** Throws name_in_file or name_limit_reached. */
  put(name: ModelName, nowMs: number): Promise<StoredName> {
    return this.enqueue(async () => {
      this.checkNotInFile(name.name);
      const stored = await this.store.put(name, nowMs);
      if (!stored) throw gatewayError('name_limit_reached', { limit: namesMax });
      await this.read();
      await this.changed();
      return stored;
    });
  }

  /** False where there is no such name. Throws name_in_file. */
  delete(name: string): Promise<boolean> {
    return this.enqueue(async () => {
      this.checkNotInFile(name);
      const deleted = await this.store.delete(name);
      await this.read();
      await this.changed();
      return deleted;
    });
  }

  checkNotInFile(name: string): void {
    const listed = this.files.get(name);
    if (listed) throw gatewayError('name_in_file', { name, file: listed.file! });
  }

  /** One after the other, so that memory and store end with the same names. */
  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const change = this.lastChange.then(work);
    this.lastChange = change.catch(() => {});
    return change;
  }

  private async read(): Promise<void> {
    const { names, total, version } = await this.store.changedSince(this.storeVersion);
    for (const name of names) {
      this.stored.set(name.name, name);
      this.add(this.files.get(name.name)?.name ?? name);
    }
    this.storeVersion = version;
    if (names.length > 0) this.version++;
    // Every name of the store is here by now, so others have been deleted where the numbers differ.
    if (this.stored.size === total) return;
    const all = await this.store.changedSince('0');
    this.stored = new Map(all.names.map((name) => [name.name, name]));
    this.storeVersion = all.version;
    this.rebuild();
  }

  private rebuild(): void {
    this.names.clear();
    this.defaults.clear();
    for (const name of this.stored.values()) this.add(name);
    for (const { name } of this.files.values()) this.add(name);
    this.version++;
  }

  private add(name: ModelName): void {
    this.names.set(name.name, name);
    if (name.defaults === null) this.defaults.delete(name.name);
    else this.defaults.add(name.name);
  }
}
