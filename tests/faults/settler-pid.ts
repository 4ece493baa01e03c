/** The process that a gateway has started to settle. */
import { execFileSync } from 'node:child_process';
import type { SpawnedGateway } from '../support/gateway.js';

export function settlerPid(gateway: SpawnedGateway): number {
  const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(gateway.pid)], { encoding: 'utf8' });
  const line = children.split('\n').find((text) => text.includes('settle.js'));
  return Number.parseInt(line ?? '', 10);
}
