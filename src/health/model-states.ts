/** Keeps in memory which models are disabled, written through to the store, so that requests need not wait. */
import type { ModelAvailability } from '../catalogue/route.js';
import type { AvailabilityStore } from '../storage/store.js';

const available: ModelAvailability = { state: 'available', reason: null };

export class ModelStates {
  private states = new Map<string, ModelAvailability>();
  private lastChange: Promise<unknown> = Promise.resolve();

  /** `changed` notifies the other processes of a fleet before a change is acknowledged. */
  constructor(
    private readonly store: AvailabilityStore,
    private readonly changed: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** Loads the stored states. Call it before serving and when another process has changed one. */
  async load(): Promise<void> {
    this.states = new Map(await this.store.all());
  }

  get(canonicalId: string): ModelAvailability {
    return this.states.get(canonicalId) ?? available;
  }

  /** Runs changes one after the other, so that memory and store end with the same state. */
  set(canonicalId: string, availability: ModelAvailability): Promise<void> {
    const change = this.lastChange.then(async () => {
      await this.store.set(canonicalId, availability);
      this.states.set(canonicalId, availability);
      await this.changed();
    });
    this.lastChange = change.catch(() => {});
    return change;
  }
}
