import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ConfigFault } from './config-fault.js';
import { loadConfig } from './load-config.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-mail-'));
afterAll(() => rmSync(folder, { recursive: true }));

function load(yaml: string) {
  writeFileSync(join(folder, 'lodestone.yaml'), yaml);
  return loadConfig({ env: {}, cwd: folder }).mail;
}

function faultsOf(yaml: string): readonly string[] {
  try {
    load(yaml);
    return [];
  } catch (error) {
    return (error as ConfigFault).faults;
  }
}

describe('mail in the configuration', () => {
  it('has a server and a sender, and is off without both', () => {
    const smtpUrl = 'smtps://ada:s3cret%21@mail.example.com:465';
    const from = 'Lodestone <no-reply@example.com>';
    expect(load(`mail: { smtp_url: "${smtpUrl}", from: "${from}" }`)).toEqual({ smtpUrl, from });
    writeFileSync(join(folder, 'smtp'), `${smtpUrl}\n`);
    expect(load('mail: { smtp_url_file: smtp, from: a@example.com }')).toEqual({ smtpUrl, from: 'a@example.com' });
    expect(load('demo: false')).toBeNull();
    expect(load('mail: {}')).toBeNull();
  });

  it.each([
    ['mail: { smtp_url: "smtp://mail.example.com" }', /mail\.from: missing, expected a value, because mail\.smtp_url/],
    ['mail: { smtp_url_file: smtp }', /mail\.from: missing, expected a value, because mail\.smtp_url/],
    ['mail: { from: a@example.com }', /mail\.smtp_url: missing, expected a value, because mail\.from/],
    ['mail: { smtp_url: "https://s3cret@mail", from: a@example.com }', /mail\.smtp_url: found .*, expected an smtp:/],
    ['mail: { smtp_url: "smtp://", from: a@example.com }', /mail\.smtp_url/],
    ['mail: { smtp_url: "smtp://mail/?tls=s3cret", from: a@example.com }', /mail\.smtp_url/],
    ['mail: { smtp_url: "smtp://a:s3cret%@mail", from: a@example.com }', /mail\.smtp_url/],
    ['mail: { smtp_url: "smtp://mail", from: nobody }', /mail\.from: found "nobody", expected an email address/],
    ['mail: { smtp_url: "smtp://mail", from: "A <a@example.com>, b@example.com" }', /mail\.from/],
  ])('stops the start with one fault, without the secret: %s', (yaml, fault) => {
    const faults = faultsOf(yaml);
    expect(faults).toEqual([expect.stringMatching(fault)]);
    expect(faults.join()).not.toContain('s3cret');
  });
});
