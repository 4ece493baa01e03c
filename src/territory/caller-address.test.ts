import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../tests/support/seeded-random.js';
import { threadTime } from '../../tests/support/thread-time.js';
import { callerAddress, ProxyTrust } from './caller-address.js';

const header = 'x-forwarded-for';
const trust = new ProxyTrust(['10.0.0.0/8', 'fd00::/8', '192.0.2.1/32'], header);
const via = (peer: string | undefined, ...values: string[]) =>
  callerAddress(peer, ['Host', 'x', ...values.flatMap((value) => ['X-Forwarded-For', value])], trust);

/** The headers that callers send to hide where they are. */
const spoofHeaders = [
  ...['X-Forwarded-For', 'X-Real-IP', 'True-Client-IP', 'CF-Connecting-IP', 'X-Client-IP', 'X-Cluster-Client-IP'],
  ...['Fastly-Client-IP', 'X-Original-Forwarded-For', 'X-Forwarded', 'Forwarded-For', 'X-Remote-IP', 'X-Remote-Addr'],
  ...['Client-IP', 'Via', 'X-Azure-ClientIP'],
].flatMap((name) => [name, '8.8.8.8']);

describe('the caller\u2019s address', () => {
  it('is the peer\u2019s where no proxy is trusted, whatever 15 headers say', () => {
    const none = new ProxyTrust([], header);
    expect(spoofHeaders).toHaveLength(30);
    for (const peer of ['203.0.113.7', '127.0.0.1', '10.0.0.1', '2001:db8::7']) {
      expect(callerAddress(peer, spoofHeaders, none)).toBe(peer);
    }
    expect(callerAddress('::ffff:203.0.113.7', spoofHeaders, none)).toBe('203.0.113.7');
    expect(callerAddress(undefined, spoofHeaders, none)).toBe('');
  });

  it('is the peer\u2019s where the peer is not a trusted proxy', () => {
    for (const peer of ['203.0.113.7', '11.0.0.1', '192.0.2.2', 'fe80::1', '127.0.0.1']) {
      expect(callerAddress(peer, spoofHeaders, trust)).toBe(peer);
    }
    expect(callerAddress(undefined, spoofHeaders, trust)).toBe('');
  });

  it('takes the named header only', () => {
    const real = new ProxyTrust(['10.0.0.0/8'], 'x-real-ip');
    expect(callerAddress('10.0.0.1', spoofHeaders, real)).toBe('8.8.8.8');
    expect(callerAddress('10.0.0.1', ['X-Forwarded-For', '8.8.8.8', 'X-REAL-IP', '9.9.9.9'], real)).toBe('9.9.9.9');
    expect(callerAddress('10.0.0.1', ['X-Forwarded-For', '8.8.8.8'], real)).toBe('10.0.0.1');
  });

  it.each([
    ['one entry', '10.0.0.1', ['203.0.113.7'], '203.0.113.7'],
    ['no header', '10.0.0.1', [], '10.0.0.1'],
    ['the right-most that is not trusted', '10.0.0.1', ['8.8.8.8, 203.0.113.7, 10.0.0.2'], '203.0.113.7'],
    ['nothing left of it', '10.0.0.1', ['10.9.9.9, 8.8.8.8, 203.0.113.7'], '203.0.113.7'],
    ['all trusted: the left-most', '10.0.0.1', ['10.0.0.4, 10.0.0.3, 10.0.0.2'], '10.0.0.4'],
    ['several lines', '10.0.0.1', ['8.8.8.8', '203.0.113.7', '10.0.0.2'], '203.0.113.7'],
    ['a spoofed line before the proxy\u2019s', '10.0.0.1', ['10.0.0.2', '203.0.113.7'], '203.0.113.7'],
    ['a mapped peer', '::ffff:10.0.0.1', ['203.0.113.7'], '203.0.113.7'],
    ['an IPv6 peer', 'fd00::1', ['2001:db8::7'], '2001:db8::7'],
    ['a mapped proxy in the list', '10.0.0.1', ['203.0.113.7, ::ffff:10.0.0.2'], '203.0.113.7'],
    ['a mapped caller', '10.0.0.1', ['::ffff:203.0.113.7'], '203.0.113.7'],
    ['ports', '10.0.0.1', ['203.0.113.7:555, [fd00::2]:80, 10.0.0.2:80'], '203.0.113.7'],
    ['quotes', '10.0.0.1', ['"[2001:db8::7]:555", "10.0.0.2"'], '2001:db8::7'],
    ['a spelling of its own', '10.0.0.1', ['2001:0DB8:0::0007'], '2001:db8::7'],
    ['garbage alone: the peer', '10.0.0.1', ['unknown'], '10.0.0.1'],
    ['garbage ends it', '10.0.0.1', ['8.8.8.8, unknown'], '10.0.0.1'],
    ['garbage behind a proxy ends it', '10.0.0.1', ['8.8.8.8, junk, 10.0.0.3, 10.0.0.2'], '10.0.0.3'],
    ['an empty entry ends it', '10.0.0.1', ['8.8.8.8, , 10.0.0.2'], '10.0.0.2'],
    ['a comma at the end', '10.0.0.1', ['8.8.8.8,'], '10.0.0.1'],
    ['a comma at the beginning', '10.0.0.1', [',10.0.0.2'], '10.0.0.2'],
    ['an empty header', '10.0.0.1', [''], '10.0.0.1'],
    ['an empty line before the proxy\u2019s', '10.0.0.1', ['', '203.0.113.7'], '203.0.113.7'],
    ['a range is garbage', '10.0.0.1', ['0.0.0.0/0'], '10.0.0.1'],
    ['RFC 7239 is garbage', '10.0.0.1', ['for=8.8.8.8;by=10.0.0.1'], '10.0.0.1'],
  ])('%s', (_, peer, values, expected) => {
    expect(via(peer, ...values)).toBe(expected);
    expect(via(peer, ...values), 'the same when asked again').toBe(expected);
  });

  it('gives each peer its own address where the header says nothing', () => {
    expect(via('10.0.0.1', 'unknown')).toBe('10.0.0.1');
    expect(via('10.0.0.2', 'unknown')).toBe('10.0.0.2');
  });

  it.each([
    ['16 KB of commas', ','.repeat(16_384)],
    ['16 KB of blanks', ' '.repeat(16_384)],
    ['16 KB of trusted addresses', '10.0.0.2,'.repeat(1820)],
    ['16 KB of trusted addresses, no end', `8.8.8.8${',10.0.0.2'.repeat(1820)}`],
    ['16 KB of quotes', '"'.repeat(16_384)],
    ['16 KB of colons', ':'.repeat(16_384)],
    ['16 KB of digits', '1'.repeat(16_384)],
    ['16 KB of brackets', '['.repeat(16_384)],
  ])('costs next to nothing on a hostile header: %s', (_, value) => {
    const started = threadTime().ranMs;
    for (let i = 0; i < 100; i++) expect(['10.0.0.1', '10.0.0.2']).toContain(via('10.0.0.1', value));
    expect(threadTime().ranMs - started).toBeLessThan(5_000);
  });

  it('never is what the caller wrote, for any chain of proxies, and always is the caller (property)', () => {
    forSeeds(2000, (random) => {
      const caller = random.pick(['203.0.113.', '198.51.100.', '2001:db8::']) + (1 + random.below(250));
      const written = Array.from({ length: random.below(4) }, () => spoofed(random));
      const hops = Array.from({ length: random.below(5) }, () => proxy(random));
      // Each proxy appends its peer: first the caller, then the proxies before it. The last proxy is our own peer.
      const entries = [...written, spelled(random, caller), ...hops.map((hop) => spelled(random, hop))];
      const lines: string[] = [];
      for (const entry of entries) {
        if (lines.length > 0 && random.chance(0.7))
          lines.push(`${lines.pop()},${random.pick(['', ' ', '\t'])}${entry}`);
        else lines.push(entry);
      }
      expect(via(proxy(random), ...lines)).toBe(caller);
    });
  });
});

function proxy(random: SeededRandom): string {
  return random.pick([`10.${random.below(256)}.0.${random.below(256)}`, `fd00::${1 + random.below(9)}`, '192.0.2.1']);
}

function spoofed(random: SeededRandom): string {
  return random.pick(['8.8.8.8', '10.0.0.9', 'fd00::9', 'unknown', '', '"', '127.0.0.1', '::1', 'x'.repeat(50)]);
}

function spelled(random: SeededRandom, address: string): string {
  if (address.includes(':')) {
    return random.pick([address, `[${address}]`, `[${address}]:443`, `"[${address}]:1"`, address.toUpperCase()]);
  }
  return random.pick([address, `${address}:8080`, `"${address}"`, `::ffff:${address}`, ` ${address} `]);
}

describe('trusted ranges', () => {
  it.each([
    ['10.0.0.0/8', '10.255.255.255', '11.0.0.0'],
    ['10.1.2.3/8', '10.9.9.9', '9.255.255.255'],
    ['10.0.0.128/25', '10.0.0.128', '10.0.0.127'],
    ['192.0.2.1/32', '192.0.2.1', '192.0.2.2'],
    ['0.0.0.0/0', '255.1.2.3', '2001:db8::1'],
    ['::/0', '2001:db8::1', '1.2.3.4'],
    ['2001:db8::/33', '2001:db8:7fff::1', '2001:db8:8000::1'],
    ['fd00::/7', 'fc00::1', 'fe00::1'],
    ['::1/128', '::1', '::2'],
    ['::ffff:10.0.0.0/104', '10.2.3.4', '11.2.3.4'],
    ['::ffff:a00:1/128', '10.0.0.1', '10.0.0.2'],
  ])('%s has %s and has not %s', (range, inside, outside) => {
    const one = new ProxyTrust([range], header);
    expect([one.trusts(inside), one.trusts(outside)]).toEqual([true, false]);
    expect([one.trusts(inside), one.trusts(outside)], 'the same when asked again').toEqual([true, false]);
  });

  it('agree with arithmetic for any range and address (property)', () => {
    forSeeds(1500, (random) => {
      const groups = () => Array.from({ length: 8 }, () => random.pick([0, 1, 0x8000, 0xffff, random.below(65_536)]));
      const [net, other] = [groups(), groups()];
      const shared = random.below(129);
      const bits = random.below(129);
      const value = (parts: number[]) => parts.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n);
      const mask = (1n << BigInt(128 - shared)) - 1n;
      const address = (value(net) & ~mask) | (value(other) & mask);
      const textOf = (number: bigint) =>
        Array.from({ length: 8 }, (_, i) => ((number >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
      // Mapped addresses count as IPv4; another test covers them.
      if (address >> 32n === 0xffffn || value(net) >> 32n === 0xffffn) return;
      const expected = value(net) >> BigInt(128 - bits) === address >> BigInt(128 - bits);
      expect(new ProxyTrust([`${textOf(value(net))}/${bits}`], header).trusts(textOf(address))).toBe(expected);
    });
  });
});
