import { describe, expect, it } from 'vitest';
import { LeftOut } from './left-out.mjs';
import { Comparison, Rig } from './rig.mjs';

describe('a comparison', () => {
  const entry = (name, round, cpuUs, p99Us) => ({ name, round, cpuUs, load: { ok: 10, p99Us } });
  const comparison = new Comparison(
    [
      entry('direct', 0, 0, 50),
      entry('nginx', 0, 100, 80),
      entry('lodestone', 0, 300, 150),
      // A slow phase of the machine: everything takes twice as long.
      entry('lodestone', 1, 600, 300),
      entry('nginx', 1, 200, 160),
      entry('direct', 1, 0, 100),
    ],
    'ok',
  );

  it('divides CPU by the work done', () => expect(comparison.cpu('nginx')).toEqual([10, 20]));
  it('sees the same ratio in a slow phase', () => expect(comparison.cpuRatio('lodestone', 'nginx')).toEqual([3, 3]));
  it('relates latencies within a round', () =>
    expect(comparison.latencyRatio('lodestone', 'nginx', 'p99Us')).toEqual([1.875, 1.875]));
  it('subtracts what the upstream takes without a gateway', () =>
    expect(comparison.added('lodestone', 'p99Us')).toEqual([100, 200]));
});

describe('the rig', () => {
  const rigWith = (extraStarters) => new Rig({ folder: '/nowhere', rounds: 1, extraStarters, log: () => {} });

  it('starts a gateway once, when it is first asked for', async () => {
    let starts = 0;
    const rig = rigWith({ one: async () => ({ port: ++starts }) });
    const [first, second] = await Promise.all([rig.contender('one'), rig.contender('one')]);
    expect(first).toBe(second);
    expect(first).toMatchObject({ name: 'one', port: 1, path: '/v1/chat/completions' });
  });

  it('leaves out figures of a gateway that is not installed, and measures the others', async () => {
    const rig = rigWith({
      there: async () => ({ port: 1 }),
      absent: async () => {
        throw new LeftOut('it is not installed');
      },
    });
    rig.load = async () => ({ ok: 10, p99Us: 5 });
    rig.measureOnce = async () => ({ cpuUs: 20, load: { ok: 10 }, foreignShare: 0 });
    const comparison = await rig.compare('json', ['there', 'absent']);
    expect(comparison.cpu('there')).toEqual([2]);
    expect(() => comparison.cpuRatio('there', 'absent')).toThrow('it is not installed');
  });

  it('repeats a disturbed measurement, and gives up after a few', async () => {
    const rig = rigWith({});
    let calls = 0;
    await rig.undisturbed(async () => ({ foreignShare: ++calls < 2 ? 0.5 : 0 }));
    expect({ calls, repeats: rig.repeats, disturbed: rig.disturbed }).toEqual({ calls: 2, repeats: 1, disturbed: 0 });
    await rig.undisturbed(async () => ({ foreignShare: 0.5 }));
    expect(rig.disturbed).toBe(1);
  });
});
