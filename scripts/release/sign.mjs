/** Checksums of a folder's files in the format of sha256sum, and their Ed25519 signature, which openssl can check. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes SHA256SUMS, SHA256SUMS.sig and the public key. A signature of this kind is the same each time. */
export function signFolder(folder, privateKey) {
  const key = createPrivateKey(privateKey);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`The key is of type ${key.asymmetricKeyType}. Use Ed25519.`);
  const lines = readdirSync(folder)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
  const sums = Buffer.from(lines.join(''));
  writeFileSync(join(folder, 'SHA256SUMS'), sums);
  writeFileSync(join(folder, 'SHA256SUMS.sig'), sign(null, sums, key));
  writeFileSync(join(folder, 'release-key.pem'), createPublicKey(key).export({ type: 'spki', format: 'pem' }));
}

/** Writes a private key, for its owner alone, and beside it the public key to publish. */
export function newKey(file) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const options = { mode: 0o600, flag: 'wx' };
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), options);
  writeFileSync(`${file}.pub`, publicKey.export({ type: 'spki', format: 'pem' }));
  return `Wrote ${file}, which signs: keep it secret. Publish ${file}.pub apart from the releases.`;
}
