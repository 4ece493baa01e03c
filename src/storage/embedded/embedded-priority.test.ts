import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { yieldToRequests } from './embedded-priority.js';

it.runIf(existsSync('/proc/self/autogroup'))('gives the session of a backend the lower priority', async () => {
  const backend = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' });
  await once(backend, 'spawn');
  yieldToRequests(backend.pid!);
  expect(readFileSync(`/proc/${backend.pid}/autogroup`, 'utf8')).toContain('nice 5');
  backend.kill();
});

it('leaves a process alone that is gone', () => {
  expect(() => yieldToRequests(2 ** 22 + 1)).not.toThrow();
});
