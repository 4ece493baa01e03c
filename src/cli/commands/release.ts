/** `lodestone release …` */
import { resolve } from 'node:path';
import { type Command, type CommandContext, required, text } from '../command.js';
import { checkRelease } from '../release/verify.js';

export const releaseCommands: readonly Command[] = [
  {
    name: 'release verify',
    parameters: '[--key PEM_FILE] FILE',
    summary:
      'Check a file of a release, or with its SHA256SUMS all of them, against the signed checksums beside it. Needs no network. Without --key the key is release-key.pem beside the file, whose fingerprint you compare with the published one.',
    options: { key: text },
    positionalsMax: 1,
    run: verifyRelease,
  },
];

async function verifyRelease({ io, json, options, positionals, markFailed }: CommandContext): Promise<void> {
  const file = resolve(io.cwd, required(positionals[0], 'The file of the release (FILE)'));
  const key = options.key === undefined ? undefined : resolve(io.cwd, options.key);
  const { checked, faults, fingerprint } = checkRelease(file, key);
  if (faults.length > 0) markFailed();
  if (json) return io.out(JSON.stringify({ ok: faults.length === 0, checked, faults, key: fingerprint }, null, 2));
  for (const line of checked) io.out(`ok    ${line}`);
  for (const line of faults) io.out(`FAULT ${line}`);
  if (faults.length > 0) return;
  io.out(key ? 'The release holds.' : 'The release holds, if this key is the one that its makers publish elsewhere.');
}
