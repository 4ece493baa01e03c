/** A real API server of Kubernetes with an etcd of its own, for the manifests: objects are checked and stored, and no pod runs. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/free-port.js';

/** The folder with kube-apiserver, etcd, helm and the CRDs, as tests/shipping/kube-tools.sh makes it. */
export const kubeTools = process.env.LODESTONE_KUBE_TOOLS ?? '';
export const hasKubeTools = kubeTools !== '' && existsSync(join(kubeTools, 'kube-apiserver')) && hasKubectl();

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface KubeServer {
  kubectl(args: string[], input?: string): string;
  helm(args: string[]): string;
  stop(): Promise<void>;
}

export async function startKubeServer(): Promise<KubeServer> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-kube-'));
  const [client, peer, api] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(folder, 'tokens'), 'admin-token,admin,admin,system:masters\n');
  writeFileSync(join(folder, 'kubeconfig'), kubeconfigOf(api));
  const run = (program: string, args: Record<string, string>) =>
    spawn(
      join(kubeTools, program),
      Object.entries(args).map(([name, value]) => `--${name}=${value}`),
      { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    );
  const children = [
    run('etcd', {
      ...{ 'data-dir': join(folder, 'etcd'), 'listen-client-urls': etcdUrl, 'advertise-client-urls': etcdUrl },
      ...{
        'listen-peer-urls': peerUrl,
        'initial-advertise-peer-urls': peerUrl,
        'initial-cluster': `default=${peerUrl}`,
      },
    }),
    run('kube-apiserver', {
      ...{ 'etcd-servers': etcdUrl, 'secure-port': String(api), 'bind-address': '127.0.0.1' },
      ...{ 'cert-dir': join(folder, 'certs'), 'token-auth-file': join(folder, 'tokens') },
      ...{
        'service-account-key-file': join(folder, 'sa.key'),
        'service-account-signing-key-file': join(folder, 'sa.key'),
      },
      ...{ 'service-account-issuer': 'https://kubernetes.default.svc', 'service-cluster-ip-range': '10.0.0.0/24' },
      // Without a controller manager nobody makes the default service account.
      ...{ 'authorization-mode': 'RBAC', 'disable-admission-plugins': 'ServiceAccount' },
    }),
  ];
  let said = '';
  for (const child of children) child.stderr!.on('data', (text) => (said = `${said}${text}`.slice(-4000)));
  const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), HOME: folder };
  const call = (program: string, args: string[], input?: string) =>
    execFileSync(program, args, {
      env,
      encoding: 'utf8',
      timeout: 60_000,
      stdio: 'pipe',
      ...(input !== undefined && { input }),
    });
  const server: KubeServer = {
    kubectl: (args, input) => call('kubectl', args, input),
    helm: (args) => call(join(kubeTools, 'helm'), args),
    stop: async () => {
      for (const child of children.toReversed()) await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  for (const until = Date.now() + 90_000; !isReady(server); await pause(250)) {
    if (Date.now() < until && children.every(({ exitCode }) => exitCode === null)) continue;
    await server.stop();
    throw new Error(`The API server is not ready: ${said}`);
  }
  return server;
}

function isReady({ kubectl }: KubeServer): boolean {
  try {
    return kubectl(['get', '--raw', '/readyz']) === 'ok';
  } catch {
    return false;
  }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

const kubeconfigOf = (port: number) => `apiVersion: v1
kind: Config
current-context: test
contexts: [{ name: test, context: { cluster: test, user: admin } }]
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:${port}", insecure-skip-tls-verify: true } }]
users: [{ name: admin, user: { token: admin-token } }]
`;
