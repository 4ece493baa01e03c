import { describe, expect, it } from 'vitest';
import { checkpointText, readCheckpoint } from './checkpoint.js';
import { emptyRoot } from './merkle.js';
import { isSignedBy, newSigner, readNote, readSignerKey, readVerifierKey, signNote } from './note.js';

/** Key, text and note of the documentation of Go's `golang.org/x/mod/sumdb/note`. */
const goVerifier = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const goSigner = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';
const goText = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const goNote = `${goText}\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;

describe('a signed note', () => {
  it('is read and written as Go does it', () => {
    const signer = readSignerKey(goSigner)!;
    expect(signer.verifier.text).toBe(goVerifier);
    expect(signNote(goText, [signer])).toBe(goNote);
    expect(isSignedBy(readNote(goNote)!, readVerifierKey(goVerifier)!)).toBe(true);
  });

  it('holds for each of its keys and for no other', () => {
    const [a, b, c] = [newSigner('log.example/log'), newSigner('log.example/log'), newSigner('log.example/log')];
    const note = readNote(signNote('x\n', [a, b]))!;
    expect([a, b, c].map(({ verifier }) => isSignedBy(note, verifier))).toEqual([true, true, false]);
    expect(isSignedBy({ ...note, text: 'y\n' }, a.verifier)).toBe(false);
  });

  it.each([
    ['an id that is not its own', goVerifier.replace('c74f20a3', 'c74f20a4')],
    ['another name', goVerifier.replace('Peter', 'Paul')],
    ['a cut key', goVerifier.slice(0, -4)],
    ['another algorithm', goVerifier.replace('+AR', '+BR')],
    ['nothing', ''],
  ])('refuses a key with %s', (_, text) => {
    expect(readVerifierKey(text)).toBeNull();
  });

  it.each([
    ['no signature', goText],
    ['a line that is no signature', `${goNote}x\n`],
    ['no line end', goNote.slice(0, -1)],
    ['a signature of other letters', goNote.replace('x08go/Z', 'x08go%Z')],
  ])('refuses a note with %s', (_, text) => {
    expect(readNote(text)).toBeNull();
  });
});

describe('a checkpoint', () => {
  it('is three lines', () => {
    const text = checkpointText({ origin: 'llm.example.com/log', size: 0, root: emptyRoot });
    expect(text).toBe('llm.example.com/log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n');
    expect(readCheckpoint(text)).toEqual({ origin: 'llm.example.com/log', size: 0, root: emptyRoot });
  });

  it.each([
    'a\n01\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n',
    'a\n1\n47DE\n',
    'a\n1\n',
    '\n1\nx\n',
    'a\n-1\nx\n',
  ])('is not %j', (text) => {
    expect(readCheckpoint(text)).toBeNull();
  });
});
