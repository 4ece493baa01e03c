/** Asks for proofs, and runs the verifying commands as a user would. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../../src/cli/cli.js';
import type { ReceiptProof } from '../../src/proof/check-proof.js';
import type { CallOptions, GatewayClient } from './client.js';

const waitMs = 60_000;

/** Waits until the request is settled and its receipt sealed. */
export async function proofOf(gateway: GatewayClient, id: string, options: CallOptions = {}): Promise<ReceiptProof> {
  for (const until = Date.now() + waitMs; ; ) {
    const reply = await gateway.call('GET', `/v1/generation/${id}/proof`, undefined, options);
    if (reply.status === 200) return reply.json as ReceiptProof;
    if (reply.status !== 404 || Date.now() > until) throw new Error(`No proof of ${id}: ${reply.status} ${reply.text}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export interface CommandResult {
  code: number;
  out: string;
}

export async function runCommand(argv: readonly string[]): Promise<CommandResult> {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const code = await main(argv, { out: write, err: write, env: {}, cwd: tmpdir() });
  return { code, out: lines.join('\n') };
}

/** `lodestone receipt verify` over files with these contents. */
export function verifyReceipt(
  proof: unknown,
  files: { request?: string | Buffer; answer?: string | Buffer } = {},
  more: readonly string[] = [],
): Promise<CommandResult> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-proof-'));
  const file = join(folder, 'proof.json');
  writeFileSync(file, typeof proof === 'string' ? proof : JSON.stringify(proof));
  const options = Object.entries(files).flatMap(([name, content]) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return [`--${name}`, path];
  });
  return runCommand(['receipt', 'verify', file, ...options, ...more]);
}
