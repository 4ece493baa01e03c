import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { ModelStates } from './model-states.js';

describe('model states', () => {
  it('are available unless something else was set', () => {
    expect(new ModelStates(new MemoryStore().availability).get('meta/llama')).toEqual({
      state: 'available',
      reason: null,
    });
  });

  it('outlive a restart', async () => {
    const store = new MemoryStore();
    await new ModelStates(store.availability).set('meta/llama', { state: 'soft_disabled', reason: 'maintenance' });
    const restarted = new ModelStates(store.availability);
    await restarted.load();
    expect(restarted.get('meta/llama')).toEqual({ state: 'soft_disabled', reason: 'maintenance' });
  });

  it('change in memory only when the store has the change, and go on after a failure', async () => {
    const store = new MemoryStore();
    const states = new ModelStates(store.availability);
    store.away = true;
    await expect(states.set('meta/llama', { state: 'disabled', reason: null })).rejects.toThrow();
    expect(states.get('meta/llama').state).toBe('available');
    store.away = false;
    await states.set('meta/llama', { state: 'disabled', reason: null });
    expect(states.get('meta/llama').state).toBe('disabled');
  });
});
