import { describe, expect, it } from 'vitest';
import { connectionOptions } from './mailer.js';

describe('the connection to a mail server', () => {
  it.each([
    ['smtps://ada:p%40ss@mail.example.com', { port: 465, secure: true, requireTLS: false, ignoreTLS: false }],
    ['smtp://ada:p%40ss@mail.example.com', { port: 587, secure: false, requireTLS: true, ignoreTLS: false }],
    ['smtp://mail.example.com:25', { port: 25, secure: false, requireTLS: true, ignoreTLS: false }],
    ['smtp://ada:p%40ss@[::1]:2525', { host: '::1', port: 2525, requireTLS: false, ignoreTLS: true }],
    ['smtp://localhost', { host: 'localhost', port: 587, requireTLS: false, ignoreTLS: true }],
  ])('%s shows a password only encrypted, or to this machine', (url, expected) => {
    const options = connectionOptions(url);
    expect(options).toMatchObject(expected);
    expect(options.auth).toEqual(url.includes('ada') ? { user: 'ada', pass: 'p@ss' } : undefined);
  });
});
