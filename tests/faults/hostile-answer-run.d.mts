import type { Worker } from 'node:worker_threads';
import type { HostileAnswer } from './generator/hostile-answers.mjs';

export interface HostileThreads {
  provider: Worker;
  coTenant: Worker;
  url: string;
  coTenantUrl: string;
  stop(): Promise<unknown>;
}
export function startHostileThreads(): Promise<HostileThreads>;

export interface HostileResult {
  reply: { status: number; text: string; bytes: number; ms: number };
  bytes: number;
  delayMs: number;
  measuredMs: number;
  growthMb: number;
  leftMb: number;
  failures: string[];
}
export class HostileRun {
  constructor(threads: HostileThreads, gateway: { url: string; pid: number }, keys: { hostile: string; other: string });
  warmUp(): Promise<void>;
  measure(hostile: HostileAnswer, bytes: number): Promise<HostileResult>;
}
export function excesses(result: HostileResult): string[];
