/** `lodestone receipt verify`: checks the proof of a receipt, without a server. */
import { checkProof } from '../../proof/check-proof.js';
import { readVerifierKey } from '../../proof/note.js';
import { type Command, type CommandContext, required, text } from '../command.js';
import { CommandFailure, type Io, readNamed } from '../io.js';

export const receiptCommands: readonly Command[] = [
  {
    name: 'receipt verify',
    parameters: 'PROOF.json [--request FILE] [--answer FILE] [--key VERIFIER_KEY]',
    summary:
      'Check the proof of a receipt offline; with files, also that it is about these bytes. Exit code 1 where something does not match.',
    options: { request: text, answer: text, key: text },
    positionalsMax: 1,
    run: verifyReceipt,
  },
];

async function verifyReceipt({ io, json, positionals, options, markFailed }: CommandContext): Promise<void> {
  const proof = proofIn(io, required(positionals[0], 'The proof (PROOF.json)'));
  const key = options.key === undefined ? undefined : readVerifierKey(options.key);
  if (key === null)
    throw new CommandFailure(
      '--key is not a verifier key like <origin>+<hash>+<base64 key>. The proof was not checked.',
    );
  const { checked, faults } = checkProof(proof, {
    request: options.request === undefined ? undefined : readNamed(options.request, io),
    answer: options.answer === undefined ? undefined : readNamed(options.answer, io),
    key,
  });
  if (faults.length > 0) markFailed();
  if (json) {
    io.out(JSON.stringify({ ok: faults.length === 0, checked, faults, key_given: key !== undefined }, null, 2));
    return;
  }
  for (const line of checked) io.out(`ok    ${line}`);
  for (const line of faults) io.out(`FAULT ${line}`);
  if (key === undefined && faults.length === 0) {
    io.out(
      'note  The key is the proof’s own and was not checked independently. Give the one that you trust with --key.',
    );
  }
  io.out(faults.length === 0 ? 'The proof holds.' : 'The proof does not hold.');
}

function proofIn(io: Io, file: string): unknown {
  try {
    return JSON.parse(readNamed(file, io).toString('utf8'));
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`${file} is not JSON: ${(error as Error).message}.`);
  }
}
