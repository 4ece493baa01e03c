/** The gateway of bench/dashboard.mjs: a process on an embedded store, with the accounts and keys that its requests belong to. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/bundle/main.js', import.meta.url));
const adminToken = 'dashboard-bench-admin-token-of-no-value';
export const password = 'correct horse battery';

/** As long as names may be that people still give. */
const longName = (index) =>
  `${['production', 'staging', 'nightly-evaluation', 'customer-support-assistant'][index % 4]}-${['eu-central', 'us-east', 'ap-southeast'][index % 3]}-team-retrieval-${index}`;

export async function startBoard(dir) {
  const config = join(dir, 'lodestone.json');
  writeFileSync(
    config,
    JSON.stringify({
      server: { host: '127.0.0.1', port: 0 },
      storage: { data_dir: join(dir, 'data') },
      limits: { ip_requests_per_minute: 1_000_000 },
      ...{ demo: false, registration: 'open', admin_token: adminToken },
    }),
  );
  const child = spawn(process.execPath, [main, '--config', config], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = await addressOf(child);
  const call = async (path, method, body, headers) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const dashboard = (method, path, body, cookie) =>
    call(`/dashboard/api/${path}`, method, body, {
      'x-lodestone-dashboard': '1',
      origin: url,
      ...(cookie && { cookie }),
    });
  return {
    url,
    admin: async (method, path, body) =>
      (await call(`/admin/v1${path}`, method, body, { authorization: `Bearer ${adminToken}` })).json(),
    dashboard: async (...all) => (await dashboard(...all)).json(),
    async signIn(email, secret) {
      const answer = await dashboard('POST', 'sign-in', { email, password: secret });
      return answer.headers
        .getSetCookie()
        .map((line) => line.split(';', 1)[0])
        .join('; ');
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function addressOf(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (piece) => {
      text += piece;
      const found = /http:\/\/[\d.]+:\d+/.exec(text);
      if (found && /ready|Dashboard/i.test(text)) resolve(found[0]);
    });
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}: ${text}`)));
  });
}

/** Makes the accounts and keys, or one operator who has nothing yet; returns what the fill and the measurement need to know of them. */
export async function furnish({ admin }, isEmpty) {
  const email = 'a-rather-long-address-of-an-operator@engineering.example.com';
  const owner = await admin('POST', '/accounts', { email, name: 'Ada Lovelace', password });
  await admin('PATCH', `/accounts/${owner.id}`, { operator: true });
  const routes = inUse((await admin('GET', '/routes')).data.map(({ id }) => ({ id })));
  if (isEmpty) return { email, accounts: [owner.id], keys: [], routes };
  await admin('POST', `/accounts/${owner.id}/credits`, {
    amount_usd: '250000.00',
    note: 'Invoice 2026-1042 of the first quarter',
  });
  const accounts = [owner.id];
  for (let index = 1; index < 120; index++) {
    const address = `${longName(index)}@department-${index % 7}.customers.example.com`;
    const { id } = await admin('POST', '/accounts', { email: address, name: `Customer ${longName(index)}` });
    await admin('POST', `/accounts/${id}/credits`, { amount_usd: '5000.00' });
    accounts.push(id);
  }
  const path = `/accounts/${owner.id}`;
  const budget = { limit_usd: '5000', period: 'monthly' };
  await many(999, (index) => admin('POST', `${path}/projects`, { name: longName(index), budget }));
  await many(5_000, (index) =>
    admin('POST', `${path}/members`, { email: `${longName(index)}@people.example.com`, role: memberRoles[index % 4] }),
  );
  const keys = [];
  for (let index = 0; index < 200; index++) {
    const { id, name } = await admin('POST', `/accounts/${owner.id}/keys`, { name: longName(index) });
    keys.push({ id, name });
  }
  return { email, accounts, keys, routes };
}

const memberRoles = ['admin', 'billing', 'developer', 'auditor'];

async function many(count, make) {
  for (let first = 0; first < count; first += 20)
    await Promise.all(Array.from({ length: Math.min(20, count - first) }, (_, i) => make(first + i)));
}

/** The routes of a hundred models. */
function inUse(routes) {
  const modelOf = ({ id }) => id.split('/').slice(1, 3).join('/');
  const models = new Set([...new Set(routes.map(modelOf))].slice(0, 100));
  return routes.filter((route) => models.has(modelOf(route)));
}
