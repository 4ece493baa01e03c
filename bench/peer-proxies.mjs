/** Plain proxies to compare with: nginx, haproxy and Go's httputil.ReverseProxy, each where it is installed. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LeftOut } from './left-out.mjs';
import { freePort } from './lodestone.mjs';
import { start } from './processes.mjs';

const goSource = fileURLToPath(new URL('./go-proxy.go', import.meta.url));

export async function startNginx(rig) {
  requireProgram('nginx', ['-v']);
  const { folder, upstreamPort } = rig.place('nginx');
  const port = await freePort();
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, nginxConf(folder, port, upstreamPort));
  return listening(start('nginx', ['-p', folder, '-c', file, '-e', join(folder, 'error.log')]), port);
}

/** Buffers of 128 KB, or it would write a long prompt to a file. */
function nginxConf(folder, port, upstreamPort) {
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log crit;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp;
  client_body_buffer_size 128k;
  proxy_temp_path ${folder}/tmp;
  keepalive_requests 1000000;
  upstream provider { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=2048;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

export async function startHaproxy(rig) {
  requireProgram('haproxy', ['-v']);
  const { folder, upstreamPort } = rig.place('haproxy');
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  maxconn 8192
  nbthread 1
defaults
  mode http
  option http-no-delay
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend callers
  bind 127.0.0.1:${port}
  default_backend provider
backend provider
  server one 127.0.0.1:${upstreamPort} maxconn 8192 pool-max-conn 4096
`,
  );
  return listening(start('haproxy', ['-f', file, '-db']), port);
}

export async function startGoProxy(rig) {
  requireProgram('go', ['version']);
  const { folder, upstreamPort } = rig.place('go');
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'go-proxy');
  const built = spawnSync('go', ['build', '-o', program, goSource], { cwd: folder, encoding: 'utf8' });
  if (built.status !== 0) throw new LeftOut(`go could not build its proxy: ${built.stderr.slice(0, 300)}`);
  const args = [`127.0.0.1:${port}`, `http://127.0.0.1:${upstreamPort}`];
  return listening(start(program, args, { env: { GOMAXPROCS: '1' } }), port);
}

export function requireProgram(program, args) {
  if (spawnSync(program, args, { stdio: 'ignore' }).status !== 0) throw new LeftOut(`${program} is not installed`);
}

/** Waits until the port accepts connections. */
export async function listening(entry, port, timeoutMs = 20_000) {
  const until = performance.now() + timeoutMs;
  while (performance.now() < until && !entry.exited) {
    const open = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return { port, pid: entry.child.pid, entry };
    await pause(50);
  }
  throw new LeftOut(`a program did not start: ${entry.output.slice(-500)}`);
}
