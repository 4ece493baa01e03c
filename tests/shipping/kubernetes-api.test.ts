/**
 * The chart and the manifests at a real API server, with strict validation and the pod security that the namespace asks for. It needs
 * LODESTONE_KUBE_TOOLS (tests/shipping/kube-tools.sh) and kubectl, and is skipped by name without them. No pod runs: there is no node.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { hasKubeTools, type KubeServer, kubeTools, startKubeServer } from './kube-server.js';
import { filesIn, manifest, root, type Yaml } from './shipped-files.js';

const chart = join(root, 'deploy/helm/lodestone');
const valuesOf = (name: string) => join(root, `tests/shipping/helm/values-${name}.yaml`);
/** A helm that was built from its module takes itself for an older one when it renders. */
const named = ['--kube-version', '1.34.4'];
const every = ['plain', 'everything', 'small', 'cloud', 'gateway'];

describe.skipIf(!hasKubeTools)('at a real API server (LODESTONE_KUBE_TOOLS)', () => {
  let server: KubeServer;
  const get = (kind: string, namespace: string, name = 'lodestone'): Yaml =>
    JSON.parse(server.kubectl(['get', kind, name, '--namespace', namespace, '--output', 'json']));
  const namesIn = (namespace: string) =>
    server
      .kubectl(['get', `${kinds},persistentvolumeclaims`, '--namespace', namespace, '--output', 'name'])
      .trim()
      .split('\n')
      .filter(Boolean);
  const kinds =
    'statefulsets,services,configmaps,serviceaccounts,poddisruptionbudgets,horizontalpodautoscalers,ingresses,networkpolicies,httproutes,servicemonitors';
  beforeAll(async () => {
    server = await startKubeServer();
    for (const crd of ['httproutes', 'servicemonitors'])
      server.kubectl(['create', '--filename', join(kubeTools, `${crd}.yaml`)]);
    server.kubectl(['wait', '--for=condition=established', '--timeout=30s', 'crd', '--all']);
  });
  afterAll(() => server?.stop());

  it.each(every)('the chart with the values "%s" is accepted, every field of it', (name) => {
    const namespace = `chart-${name}`;
    server.kubectl(['create', 'namespace', namespace]);
    server.kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
    const rendered = server.helm([
      'template',
      'lodestone',
      chart,
      ...named,
      '--namespace',
      namespace,
      '--values',
      valuesOf(name),
    ]);
    const said = server.kubectl(['apply', '--validate=strict', '--server-side', '--filename', '-'], rendered);
    const objects = parseAllDocuments(rendered).flatMap((document) => (document.toJS() as Yaml) ?? []);
    expect(said.trim().split('\n')).toHaveLength(objects.length);
    // Pod security is judged when a pod is made, so one is made as the controller would.
    const { template } = get('statefulset', namespace).spec;
    const claims = [{ name: 'journal', emptyDir: {} }];
    const pod = { ...template.spec, volumes: [...template.spec.volumes, ...claims] };
    const made = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a-pod', namespace }, spec: pod };
    server.kubectl(['create', '--validate=strict', '--filename', '-'], JSON.stringify(made));
  });

  it('a field that does not exist is refused, so the checks above mean something', () => {
    const wrong = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'x' },
      spec: { ports: [{ port: 1, prot: 'x' }] },
    };
    expect(() => server.kubectl(['apply', '--validate=strict', '--filename', '-'], JSON.stringify(wrong))).toThrow(
      'prot',
    );
    const rootPod = { name: 'x', image: 'x', securityContext: { runAsUser: 0 } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { containers: [rootPod] } };
    expect(() =>
      server.kubectl(['create', '--namespace', 'chart-plain', '--filename', '-'], JSON.stringify(pod)),
    ).toThrow('violates PodSecurity');
  });

  it('installs, upgrades, rolls back and uninstalls by Helm', () => {
    const of = ['--namespace', 'helm'];
    server.helm(['install', 'lodestone', chart, ...of, '--create-namespace', '--values', valuesOf('plain')]);
    const image = () => get('statefulset', 'helm').spec.template.spec.containers[0].image;
    const checksum = () => get('statefulset', 'helm').spec.template.metadata.annotations['checksum/config'];
    expect(image()).toBe(`registry.example.org/ai/lodestone:${manifest.version}`);
    const [first, before] = [checksum(), namesIn('helm')];

    server.helm(['upgrade', 'lodestone', chart, ...of, '--values', valuesOf('everything'), '--set', 'image.tag=1.0.1']);
    server.helm(['upgrade', 'lodestone', chart, ...of, '--values', valuesOf('gateway'), '--set', 'image.tag=1.0.2']);
    expect(image()).toMatch(/:1\.0\.2$/);
    expect(checksum()).not.toBe(first);
    expect(get('httproute', 'helm').spec.hostnames).toEqual(['llm.example.org']);

    server.helm(['rollback', 'lodestone', '1', ...of]);
    expect([image(), checksum(), namesIn('helm')]).toEqual([
      ...[`registry.example.org/ai/lodestone:${manifest.version}`, first, before],
    ]);
    server.helm(['uninstall', 'lodestone', ...of]);
    expect(namesIn('helm').filter((name) => !name.endsWith('kube-root-ca.crt'))).toEqual([]);
  });

  it('takes the kustomization with every component, and again after a change', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lodestone-kustomize-'));
    const path = relative(folder, join(root, 'deploy/kubernetes'));
    const components = [
      ...new Set(filesIn('deploy/kubernetes/components').map((file) => file.split('/')[3]!)),
      // It takes the place of the CPU, which the other one adds to.
    ].filter((name) => name !== 'event-loop-autoscaler');
    const write = (components: string[]) =>
      writeFileSync(
        join(folder, 'kustomization.yaml'),
        stringify({
          ...{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: [`${path}/base`] },
          components: components.map((name) => `${path}/components/${name}`),
        }),
      );
    const apply = () => server.kubectl(['apply', '--validate=strict', '--server-side', '--kustomize', folder]);
    write(components);
    apply();
    const metrics = () => get('horizontalpodautoscaler', 'lodestone').spec.metrics.map((each: Yaml) => each.type);
    expect(metrics()).toEqual(['Resource', 'Pods']);
    write([...components.filter((name) => name !== 'in-flight-autoscaler'), 'event-loop-autoscaler']);
    apply();
    expect(get('horizontalpodautoscaler', 'lodestone').spec.metrics[0].pods.metric.name).toBe(
      'lodestone_event_loop_utilisation',
    );
    server.kubectl([
      'apply',
      '--validate=strict',
      '--server-side',
      '--filename',
      join(root, 'deploy/kubernetes/base/secret.example.yaml'),
    ]);
    server.kubectl(['delete', '--wait=false', '--kustomize', folder]);
    rmSync(folder, { recursive: true });
  });
});
